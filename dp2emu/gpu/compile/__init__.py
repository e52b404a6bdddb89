"""Compiled draws: machine code with the exact results of the stages in ``dp2emu.gpu``.

The stages after geometry are one kernel for each state.  ``block_code`` writes the text of a
kernel with the ``*_code`` modules of the stages; ``kernel_code`` compiles it; ``kernel_plan``
chooses it; ``kernel_arguments`` and ``kernel_draw`` run it; ``batch_template`` executes many small
draws by one call.  LLVM is imported at the first draw.

A kernel works on blocks of two rows of pixels, whose lanes have two orders: ``memory`` is row by
row, ``quads`` is quad by quad for programs that take differences.
"""
