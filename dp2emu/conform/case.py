"""A conformance case: the records that are sent to a driver, and the results to expect."""

from __future__ import annotations

import msgspec

from dp2emu.capture.records import Called, Record
from dp2emu.conform.needs import Need
from dp2emu.dp2.table import Since

ANY_FAILURE = -1
"""A ``ddrval`` that matches every result but D3D_OK."""
ANY_RESULT = -2
"""A ``ddrval`` that matches every result: the driver must only survive the call."""


class Expect(msgspec.Struct, frozen=True):
    """The expected result of a call.

    ``ddrval`` may be ``ANY_FAILURE`` or ``ANY_RESULT``; ``offset`` is dwErrorOffset of a failure;
    a ``silent`` call writes no responses, even if answers are ready.
    """

    ddrval: int = 0
    offset: int = 0
    silent: bool = False


class Owed(msgspec.Struct, frozen=True):
    """The expected answer to a query: first bytes of its payload, and the payload's size in bytes.

    Answers of the same type come in the order in which they are listed.
    """

    context: int
    query: int
    type: int
    begins: bytes
    size: int


class Shown(msgspec.Struct, frozen=True):
    """The expected bytes of surface ``handle`` from byte ``offset`` on, after the last call.

    ``probe``: if only zeros are read here, the driver draws no pictures, and the case is skipped.
    Each byte may differ by ``steps``.
    """

    handle: int
    offset: int
    data: bytes
    probe: bool = False
    steps: int = 0


class Case(msgspec.Struct, frozen=True):
    """A rule that drivers must follow, and a session that tests it.

    ``name`` is unique, ``FAMILY.WHAT``; ``rule`` is a sentence and ``source`` the document that
    has it.  ``expected`` has the result of each call in ``records``, in order.  The answers in
    ``owed``, and no others, come with these calls or with empty ones after them; at the end memory
    is as ``shown``.  An ``optional`` case is skipped if the driver refuses one of its surfaces,
    its context or its first call.  ``needs`` are capabilities that it needs, besides those that
    its records show.  The rule holds in drivers of version ``since`` and later ones.  ``disputed``
    says which documents disagree on the rule, if any: then a driver that breaks it is warned of.
    A ``wild`` case sends what no runtime does and drivers in a kernel trust, and runs on request.
    """

    name: str
    rule: str
    source: str
    records: tuple[Record, ...]
    expected: tuple[Expect, ...]
    owed: tuple[Owed, ...] = ()
    optional: bool = False
    shown: tuple[Shown, ...] = ()
    needs: tuple[Need, ...] = ()
    since: Since = Since.DX9
    disputed: str = ""
    wild: bool = False

    @property
    def calls(self) -> tuple[Called, ...]:
        """The calls among the records."""
        return tuple(record for record in self.records if isinstance(record, Called))
