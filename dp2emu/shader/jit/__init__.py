"""The compiling engine: compiles programs to machine code with the reference engine's exact
results.

``bodies`` emits a program as LLVM text, without LLVM; ``compiling`` compiles text to objects;
``object_cache`` stores them on disk; ``code`` loads functions; ``tiering`` recompiles hot ones;
``engine`` runs programs.
"""
