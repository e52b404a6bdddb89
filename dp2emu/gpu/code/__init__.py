"""What code that writes compiled draws (kernels) builds on: cache keys, memory layouts, and
writers of LLVM text."""
