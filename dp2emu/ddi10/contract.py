"""Rules that the runtime follows when it calls a driver, each in one sentence.

Source: Direct3D 10/11 DDI, "Query functions" and "Query states".  A checking adapter reports every
broken rule as a ContractError; any other tolerates what the documents define.  Calls that no
driver can execute are always ContractErrors.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

import msgspec
import numpy as np

from dp2emu.errors import ContractError

_T = TypeVar("_T")


class Rule(Enum):
    """A rule for the runtime; its value is the error message for a call that breaks it."""

    LIVE_DEVICE = "the device is destroyed"
    LIVE_QUERY = "the memory holds no query of this device"
    FRESH_MEMORY = "the memory already holds a live query"
    MEMORY_SIZE = "the memory has not the size CalcPrivateQuerySize returned for this description"
    DATA_MEMORY = "the memory for the data is missing or shorter than DataSize"
    KNOWN_TYPE = "this interface version has no such query type"
    KNOWN_INTERFACE = "the adapter does not support this interface version"
    HINT_ONLY_OF_OCCLUSION = "only the occlusion predicate can be a hint"
    MISC_FLAGS = "MiscFlags has undefined bits"
    BEGIN_OF_A_MOMENT = "events and timestamps have no QueryBegin"
    DATA_OF_A_HINT = "a hint predicate has no data to get"
    DATA_SIZE = "DataSize is neither the size of the query's data nor 0 without memory"
    DATA_FLAGS = "Flags has undefined bits"
    DATA_BEFORE_END = "the query was never ended"
    A_PREDICATE = "queries of this type cannot predicate"
    PREDICATE_ISSUED = "the predicate was not ended since it was created or begun"
    BOUND_PREDICATE = "the query is the current predicate"
    SYSTEM_MEMORY = "the residency of system memory is not the driver's to report"
    KNOWN_STATUS = "pResidencyStatus does not have one defined status for each allocation"
    QUERIES_LEFT = "queries of the device are still alive"
    OBJECTS_LEFT = "objects of the device are still alive"
    LIVE_OBJECT = "the memory holds no such object of this device"
    FRESH_OBJECT = "the memory already holds a live object"
    OBJECT_SIZE = "the memory has not the size CalcPrivate...Size returned"
    KNOWN_RESOURCE = "the description of the resource is invalid"
    KNOWN_VIEW = "the description of the view is invalid for this resource"
    KNOWN_STATE = "the description has an undefined value"
    KNOWN_SUBRESOURCE = "the resource has no such subresource"
    SOURCE_MEMORY = "the memory for the data is shorter than its pitches require"
    INSIDE = "the box exceeds the subresource"
    WHOLE_BLOCKS = "the box splits blocks"
    SAME_TEXELS = "the resources differ in format family, size or sample count"
    SHARED_RESOURCE = "no device shares a resource of this handle"
    MAP_BY_USAGE = "resources of this usage cannot be mapped by this function"
    NOT_MAPPED = "the subresource is already mapped"
    MAPPED = "the subresource is not mapped"
    SAMPLES = "the host cannot access multisampled resources"
    USED_MAPPED = "a mapped resource is used"
    IMMUTABLE = "an immutable resource is written"
    VIEWS_LEFT = "views of the resource are still alive"
    SLOTS = "the slots are out of range"
    NUMBERS = "a number is out of the range of its type"
    FLOAT_CLEAR = "a view without a format, or of an integer format, is cleared with floats"
    SAME_SAMPLES = "the targets have different sample counts"
    CLASS_INSTANCES = "the class instances are not those that the interfaces of the shader need"
    CONSTANT_RANGES = "the ranges of constants are no multiples of 16 within 4096 constants"
    STREAMED = "the stream output declaration is invalid"
    STREAMED_AND_READ = "a buffer is both stream output target and input"
    STREAM_TARGETS = "a stream output target is no stream output buffer, or is bound twice"


ALWAYS = frozenset(Rule) - {
    Rule.MISC_FLAGS, Rule.BEGIN_OF_A_MOMENT, Rule.DATA_OF_A_HINT, Rule.DATA_SIZE,
    Rule.DATA_FLAGS, Rule.DATA_BEFORE_END, Rule.A_PREDICATE, Rule.PREDICATE_ISSUED,
    Rule.BOUND_PREDICATE, Rule.SYSTEM_MEMORY, Rule.QUERIES_LEFT, Rule.OBJECTS_LEFT,
    Rule.MAP_BY_USAGE, Rule.NOT_MAPPED, Rule.MAPPED, Rule.USED_MAPPED, Rule.IMMUTABLE,
    Rule.VIEWS_LEFT, Rule.STREAMED_AND_READ,
}  # fmt: skip
"""Rules enforced even without checking, since breaking them leaves no defined behaviour."""


def float32(*numbers: float) -> tuple[float, ...]:
    """Numbers rounded to FLOAT; those beyond its range become infinite."""
    with np.errstate(over="ignore"):
        return tuple(float(np.float32(number)) for number in numbers)


def is_uint(number: int) -> bool:
    """Whether ``number`` is in the range of a UINT, 0 to 2**32 - 1."""
    return 0 <= number <= 0xFFFFFFFF


class Contract(msgspec.Struct, frozen=True):
    """Enforces the rules of the runtime: all if ``checking``, else only those in ``ALWAYS``."""

    checking: bool

    def check(self, followed: bool, rule: Rule, entry: str) -> bool:
        """Return ``followed``.  Raises ContractError if it is false for an enforced rule."""
        if not followed and (self.checking or rule in ALWAYS):
            raise ContractError(entry, rule.name, rule.value)
        return followed

    def need(self, value: _T | None, rule: Rule, entry: str) -> _T:
        """Return a value; raises ContractError, for a rule in ``ALWAYS``, if it is None."""
        self.check(value is not None, rule, entry)
        assert value is not None
        return value
