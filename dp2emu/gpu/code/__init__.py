"""Ground of the kernels: keys, memory layouts, and writers of LLVM text."""
