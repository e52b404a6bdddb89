"""Pipeline statistics: which running counter of the GPU each is.

Source: Direct3D 10/11 DDI, "Pipeline statistics".  The policies of this GPU: no vertex
is shaded once for several uses, partial primitives are dropped before they count, x and y are
clipped only far outside of the viewport, and depth is tested early unless the pixel shader has a
say in depth or coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Statistics(NamedTuple):
    """D3D11_DDI_QUERY_DATA_PIPELINE_STATISTICS; that of Direct3D 10 ends with PSInvocations."""

    IAVertices: int = 0
    IAPrimitives: int = 0
    VSInvocations: int = 0
    GSInvocations: int = 0
    GSPrimitives: int = 0
    CInvocations: int = 0
    CPrimitives: int = 0
    PSInvocations: int = 0
    HSInvocations: int = 0
    DSInvocations: int = 0
    CSInvocations: int = 0


FIELDS_10 = Statistics._fields.index("PSInvocations") + 1
"""How many of them Direct3D 10 has."""

_COUNTERS = {
    "IAVertices": "vertices",
    "IAPrimitives": "primitives",
    "VSInvocations": "vertices",
    "GSInvocations": "geometry_runs",
    "GSPrimitives": "geometry_primitives",
    "CInvocations": "entered",
    "CPrimitives": "clipped",
    "PSInvocations": "invocations",
    "HSInvocations": "hull_runs",
    "DSInvocations": "domain_runs",
    "CSInvocations": "threads",
}
"""By statistic; those of stages that there are not stay 0."""

_UINT64_MAX = (1 << 64) - 1


def statistics(change: Callable[[str], int]) -> Statistics:
    """The statistics of an interval; ``change`` is how far a counter of ``Counters`` went."""
    changes = {field: change(counter) & _UINT64_MAX for field, counter in _COUNTERS.items()}
    return Statistics(**changes)
