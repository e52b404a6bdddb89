"""Replay of many captures in supervised worker processes, with a row of results for each.

Names are imported on first use: a worker of a cluster needs few of them.
"""

from typing import TYPE_CHECKING

from dp2emu.lazy_import import lazy_names

if TYPE_CHECKING:
    from dp2emu.batch.cluster import batch_on as batch_on
    from dp2emu.batch.local import Limits as Limits
    from dp2emu.batch.local import batch as batch
    from dp2emu.batch.local import parse_shard as parse_shard
    from dp2emu.batch.local import shard_of as shard_of
    from dp2emu.batch.results import Results as Results
    from dp2emu.batch.results import rows_of as rows_of

_HOMES = {
    "cluster": ("batch_on",),
    "local": ("Limits", "batch", "parse_shard", "shard_of"),
    "results": ("Results", "rows_of"),
}
"""Lazily imported names by module."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # a type checker reports names that do not exist
    __getattr__ = lazy_names(__name__, _HOMES)
