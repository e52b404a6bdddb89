"""What the runtime promises never to do to a driver, each promise in one sentence.

Source: Direct3D 10/11 DDI, "Query functions" and "Query states".  Checking reports a broken
promise as ContractError; without it the driver does what its documents say it does then.  Calls
that no driver survives are ContractErrors always.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from dp2emu.errors import ContractError
from dp2emu.records import dataclass


class Rule(Enum):
    """A promise, in words that follow the name of the entry."""

    LIVE_DEVICE = "the device is destroyed"
    LIVE_QUERY = "the memory holds no query of this device"
    FRESH_MEMORY = "the memory already holds a live query"
    MEMORY_SIZE = "the memory has not the size that CalcPrivateQuerySize gave for this description"
    DATA_MEMORY = "the memory for the data is missing or shorter than DataSize"
    KNOWN_TYPE = "this interface version has no such query type"
    KNOWN_INTERFACE = "the adapter announced no such interface version"
    HINT_ONLY_OF_OCCLUSION = "of all queries only the occlusion predicate can be a hint"
    MISC_FLAGS = "MiscFlags has bits without a meaning"
    BEGIN_OF_A_MOMENT = "events and timestamps speak of a moment and have no beginning"
    DATA_OF_A_HINT = "what a hint predicate found is never asked for"
    DATA_SIZE = "DataSize is neither that of the query's data nor 0 without memory"
    DATA_FLAGS = "Flags has bits without a meaning"
    DATA_BEFORE_END = "the query was never ended"
    A_PREDICATE = "the query is of no type that can predicate"
    PREDICATE_ISSUED = "the predicate was not ended since it was created or begun"
    BOUND_PREDICATE = "the query is the current predicate"
    SYSTEM_MEMORY = "the residency of system memory is not for the driver to know"
    KNOWN_STATUS = "the statuses that came back are not one of three for each allocation"
    QUERIES_LEFT = "queries of the device are still alive"
    OBJECTS_LEFT = "objects of the device are still alive"
    LIVE_OBJECT = "the memory holds no such object of this device"
    FRESH_OBJECT = "the memory already holds a live object"
    OBJECT_SIZE = "the memory has not the size that CalcPrivate...Size gave"
    KNOWN_RESOURCE = "there can be no resource of this description"
    KNOWN_VIEW = "the resource can have no view of this description"
    KNOWN_STATE = "the description has a value that means nothing"
    KNOWN_SUBRESOURCE = "the resource has no such subresource"
    SOURCE_MEMORY = "the memory for the data is shorter than the pitches say"
    INSIDE = "the box leaves the subresource"
    WHOLE_BLOCKS = "the box splits blocks"
    SAME_TEXELS = "the resources have not the same texels"
    SHARED_RESOURCE = "no device shares a resource of this handle"
    MAP_BY_USAGE = "the usage of the resource does not go with this map"
    NOT_MAPPED = "the subresource is mapped"
    MAPPED = "the subresource is not mapped"
    SAMPLES = "the host does not see samples"
    USED_MAPPED = "a resource that is mapped is used"
    IMMUTABLE = "what is immutable is written"
    VIEWS_LEFT = "views of the resource are still alive"
    SLOTS = "there are no such slots"
    NUMBERS = "a number does not fit into its type"
    FLOAT_CLEAR = "what has no format, or one of integers, is cleared by floats"
    SAME_SAMPLES = "targets have different numbers of samples"
    STREAMED = "nothing can be streamed out like that"
    STREAMED_AND_READ = "a buffer is read and streamed into at a time"
    STREAM_TARGETS = "what is streamed into is no buffer made for that, or is there twice"


ALWAYS = frozenset(
    {
        Rule.LIVE_DEVICE,
        Rule.LIVE_QUERY,
        Rule.FRESH_MEMORY,
        Rule.MEMORY_SIZE,
        Rule.DATA_MEMORY,
        Rule.KNOWN_TYPE,
        Rule.HINT_ONLY_OF_OCCLUSION,
        Rule.KNOWN_INTERFACE,
        Rule.KNOWN_STATUS,
        Rule.LIVE_OBJECT,
        Rule.FRESH_OBJECT,
        Rule.OBJECT_SIZE,
        Rule.KNOWN_RESOURCE,
        Rule.KNOWN_VIEW,
        Rule.SHARED_RESOURCE,
        Rule.KNOWN_STATE,
        Rule.KNOWN_SUBRESOURCE,
        Rule.SOURCE_MEMORY,
        Rule.INSIDE,
        Rule.WHOLE_BLOCKS,
        Rule.SAME_TEXELS,
        Rule.SAMPLES,
        Rule.SLOTS,
        Rule.NUMBERS,
        Rule.SAME_SAMPLES,
        Rule.STREAMED,
        Rule.STREAM_TARGETS,
        Rule.FLOAT_CLEAR,
    }
)
"""Promises without which there is nothing that could be done."""


def float32(*numbers: float) -> tuple[float, ...]:
    """Numbers as FLOATs, the nearest there are; what is too large is infinite."""
    with np.errstate(over="ignore"):
        return tuple(float(np.float32(number)) for number in numbers)


def is_uint(number: int) -> bool:
    """Whether a UINT can be that."""
    return 0 <= number <= 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Contract:
    """Who watches the promises; ``checking`` is whether all of them are watched."""

    checking: bool

    def hold(self, kept: bool, rule: Rule, entry: str) -> bool:
        """Whether a promise was kept.  Raises ContractError if a watched one was broken."""
        if not kept and (self.checking or rule in ALWAYS):
            raise ContractError(entry, rule.name, rule.value)
        return kept
