"""Many captures replayed: each in a supervised child, a row of results for each, in order."""

from dp2emu.batch.cluster import batch_on
from dp2emu.batch.results import Results, rows_of
from dp2emu.batch.running import batch, parse_shard, shard_of
from dp2emu.batch.watching import Limits

__all__ = ["Limits", "Results", "batch", "batch_on", "parse_shard", "rows_of", "shard_of"]
