"""Compiled stages of a draw: what the modules of ``dp2emu.gpu`` say, as machine code, bit for bit.

A stage is LLVM text (``dp2emu.shader.jit``) and reads its arguments from 64-bit words, named by a
tuple of names.  Nothing here imports LLVM before something is drawn.

``vertex`` is the geometry stage.  All that follows is one kernel for each state: ``key`` says what
a kernel is for, and what none is; ``writing``, ``planes``, ``memory``, ``packing``, ``depth``,
``shading``, ``coloring``, ``blocks`` and ``spans`` write its text; ``code`` compiles and keeps it;
``arguments`` and ``running`` feed and run it; ``checking`` compares; ``sequence``
draws many small draws by one call.

A kernel works on blocks of two rows of pixels, which are quads.  Lanes have two orders: MEMORY
is a row after the other, QUADS what programs want that look at their neighbours.
"""
