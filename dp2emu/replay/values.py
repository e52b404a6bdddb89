"""Query payloads as JSON values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.d3d.enums import QueryType
from dp2emu.layout import dtype_of

_BOOLEANS = (QueryType.EVENT, QueryType.TIMESTAMPDISJOINT)
_DTYPES = {int(kind): dtype_of(payload) for kind, payload in PAYLOADS.items()}


def payload_value(kind: int, data: bytes) -> Any:
    """The JSON value of a payload of D3DQUERYTYPE ``kind``; None for no data.

    EVENT and TIMESTAMPDISJOINT are booleans, OCCLUSION, TIMESTAMP and TIMESTAMPFREQ integers,
    the others objects with the member names of their structure.  Floats that are not finite, for
    which JSON has no numbers, are the strings "nan", "inf" and "-inf".
    """
    if not data:
        return None
    if kind in _BOOLEANS:
        return any(data)
    return _plain(np.frombuffer(data, _DTYPES[kind], 1)[0])


def _plain(value: Any) -> Any:
    if isinstance(value, np.void):
        return {name: _plain(value[name]) for name in value.dtype.names or ()}
    if isinstance(value, np.ndarray):
        return [_plain(each) for each in value]
    number = value.item()
    if isinstance(number, float) and not math.isfinite(number):
        return str(number)
    return number
