"""The ``dp2emu`` command, as the script of this name and as ``python -m dp2emu``."""

from collections.abc import Sequence
from typing import NoReturn

from dp2emu.process.signals import signals_end_at_once


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command with ``arguments`` (default: the process's) and end the process.

    A signal during the imports prints one line.
    """
    signals_end_at_once()
    from dp2emu.cli import main as run

    run(arguments)


if __name__ == "__main__":
    main()
