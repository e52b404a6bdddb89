"""One case of the kit: what is done to a driver, and all that it may answer."""

from __future__ import annotations

import msgspec

from dp2emu.capture.records import Called, Record

ANY_FAILURE = -1
"""A ``ddrval`` that stands for every result but D3D_OK."""
ANY_RESULT = -2
"""A ``ddrval`` that stands for all results: only that the driver lives matters."""


class Expect(msgspec.Struct, frozen=True):
    """What one call must come back with.

    ``ddrval`` may be ``ANY_FAILURE`` or ``ANY_RESULT``; ``offset`` is dwErrorOffset of a failure;
    ``silent`` says that nothing may be written by this call, though answers may be ready.
    """

    ddrval: int = 0
    offset: int = 0
    silent: bool = False


class Owed(msgspec.Struct, frozen=True):
    """An answer that must come: the first bytes of its payload, and how many there are.

    Answers of the same type come in the order in which they are listed.
    """

    context: int
    query: int
    type: int
    begins: bytes
    size: int


class Shown(msgspec.Struct, frozen=True):
    """What surface ``handle`` must hold from byte ``offset`` on when all is done.

    If a ``probe`` finds zeros, as memory is made, the driver draws no pictures, which is no
    mistake: the case is passed over.
    """

    handle: int
    offset: int
    data: bytes
    probe: bool = False


class Case(msgspec.Struct, frozen=True):
    """A rule and a conversation that shows whether it is followed.

    ``name`` is unique, ``FAMILY.WHAT``; ``rule`` says the rule in a sentence and ``source`` where
    it is written.  ``expected`` has a row for each ``Called`` in ``records``.  When all is done
    the answers in ``owed``, and no others, have come with these calls or with empty ones behind
    them, and memory is as ``shown``.  An ``optional`` case is passed over if the driver refuses a
    surface, a context or the first call of it.
    """

    name: str
    rule: str
    source: str
    records: tuple[Record, ...]
    expected: tuple[Expect, ...]
    owed: tuple[Owed, ...] = ()
    optional: bool = False
    shown: tuple[Shown, ...] = ()

    @property
    def calls(self) -> tuple[Called, ...]:
        """Its calls."""
        return tuple(record for record in self.records if isinstance(record, Called))
