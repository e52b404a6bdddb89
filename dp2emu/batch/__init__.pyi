from dp2emu.batch.cluster import batch_on as batch_on
from dp2emu.batch.local import Limits as Limits
from dp2emu.batch.local import batch as batch
from dp2emu.batch.local import parse_shard as parse_shard
from dp2emu.batch.local import shard_of as shard_of
from dp2emu.batch.results import Results as Results
from dp2emu.batch.results import rows_of as rows_of
