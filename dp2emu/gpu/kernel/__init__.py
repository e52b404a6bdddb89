"""Compiled stages of a draw: what the modules of ``dp2emu.gpu`` say, as machine code, bit for bit.

A stage is LLVM text (``dp2emu.shader.jit``) and reads its arguments from 64-bit words, named by a
tuple of names.  Nothing here imports LLVM before something is drawn.
"""
