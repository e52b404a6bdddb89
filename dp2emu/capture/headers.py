"""The kit for drivers in C: where its headers are.

``dp2.h`` has the structures, numbers and token lengths of the interface, ``dp2walk.h`` finds
tokens, ``dp2answer.h`` writes the answers of queries, ``dp2log.h`` writes a raw driver log,
``dp2stub.h`` serves a driver to a rig over any stream of bytes, and ``dp2play.h`` makes calls to
the driver it is linked with.
"""

from __future__ import annotations

from pathlib import Path

INCLUDES = Path(__file__).with_name("c")
"""Path of the folder with the C headers, for a C compiler's option ``-I``."""
