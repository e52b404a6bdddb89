"""Many captures replayed: each in a supervised child, a row of results for each, in order.

Names are imported when they are asked for: a worker of a cluster needs few of them.
"""

from typing import TYPE_CHECKING

from dp2emu.lazy_import import lazy_names

if TYPE_CHECKING:
    from dp2emu.batch.cluster import batch_on as batch_on
    from dp2emu.batch.limits import Limits as Limits
    from dp2emu.batch.results import Results as Results
    from dp2emu.batch.results import rows_of as rows_of
    from dp2emu.batch.running import batch as batch
    from dp2emu.batch.running import parse_shard as parse_shard
    from dp2emu.batch.running import shard_of as shard_of

_HOMES = {
    "cluster": ("batch_on",),
    "limits": ("Limits",),
    "results": (
        "Results",
        "rows_of",
    ),
    "running": (
        "batch",
        "parse_shard",
        "shard_of",
    ),
}
"""Names by module, which are imported when they are asked for."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # where types are checked, a name that is not there is an error
    __getattr__ = lazy_names(__name__, _HOMES)
