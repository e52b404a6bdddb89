"""Single channels of pixels as NumPy lanes: ``shader.codings`` says what their bits stand for."""

from __future__ import annotations

import numpy as np

from dp2emu.d3d.formats import Channel
from dp2emu.gpu.arrays import F32, Words
from dp2emu.shader import codings
from dp2emu.shader.builder import Builder
from dp2emu.shader.formulas import computed
from dp2emu.shader.types import I32, canonical
from dp2emu.shader.values import Value


def as_floats(lane: F32 | I32) -> F32:
    """A lane, or the floats whose bits it has, every NaN the canonical one."""
    floats: F32 = lane.view(np.float32)
    return canonical(floats) if lane.dtype == np.int32 else floats


def encode(channel: Channel, lane: F32 | I32, *, toward_zero: bool = False) -> Words:
    """The bits of a channel, in the low bits of uint32 lanes."""
    return computed(_encoded, (channel, toward_zero), lane)[0].view(np.uint32)


def _encoded(b: Builder, key: tuple[Channel, bool], value: Value) -> tuple[Value]:
    return (codings.encoded(value, key[0], toward_zero=key[1]),)


def decode(channel: Channel, field: Words) -> F32:
    """The value of a channel by its bits, uint32 lanes."""
    return computed(_decoded, Channel(0, channel.bits, channel.coding), field)[0]


def _decoded(b: Builder, channel: Channel, word: Value) -> tuple[Value]:
    return (codings.decoded([word], channel),)
