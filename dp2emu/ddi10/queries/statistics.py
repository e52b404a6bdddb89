"""Pipeline statistics, computed from the running counters of the GPU.

Source: Direct3D 10/11 DDI, "Pipeline statistics".  Policies of this GPU: vertices are shaded
unless the post-transform cache has them (``gpu.input_assembler.vertex_cache``), partial primitives
are dropped before they count, x and y are clipped with a wide guard band, and depth is tested
early unless the pixel shader writes depth or coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Statistics(NamedTuple):
    """D3D11_DDI_QUERY_DATA_PIPELINE_STATISTICS; Direct3D 10's ends with PSInvocations."""

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
"""Number of leading members of the pipeline statistics that Direct3D 10 returns."""

_COUNTERS = {
    "IAVertices": "vertices",
    "IAPrimitives": "primitives",
    "VSInvocations": "vertex_cache_misses",
    "GSInvocations": "geometry_runs",
    "GSPrimitives": "geometry_primitives",
    "CInvocations": "entered",
    "CPrimitives": "clipped",
    "PSInvocations": "invocations",
    "HSInvocations": "hull_runs",
    "DSInvocations": "domain_runs",
    "CSInvocations": "threads",
}
"""Name of the GPU counter that gives each member of ``Statistics``, by the member's name."""

_UINT64_MAX = (1 << 64) - 1


def statistics(change: Callable[[str], int]) -> Statistics:
    """The pipeline statistics of an interval.

    ``change`` is a function from a GPU counter's name to its growth in the interval.
    """
    changes = {field: change(counter) & _UINT64_MAX for field, counter in _COUNTERS.items()}
    return Statistics(**changes)
