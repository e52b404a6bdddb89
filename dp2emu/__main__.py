"""``python -m dp2emu`` is the ``dp2emu`` command."""

from dp2emu.cli import main

main()
