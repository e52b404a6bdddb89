"""The texture cache against a dictionary, and what draws ask it for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d.enums import Format, TextureFilter
from dp2emu.gpu.command.bindings import TextureBinding
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import Caches, execute_draw
from dp2emu.gpu.shader_resources.texture_cache import LINE_WORDS, LINES, TextureCache
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.texture.records import SamplerKey
from tests.gpu.drawing import color_surface, corner, draw, rebound
from tests.gpu.shader_resources.test_textures import over_pixels, texture

WORDS = st.integers(0, 3 * LINES * LINE_WORDS)
LOOKUPS = st.lists(st.tuples(st.integers(1, 2), st.lists(WORDS, max_size=40)), max_size=6)


@given(LOOKUPS)
def test_hits_are_those_of_one_line_for_each_place(lookups: list[tuple[int, list[int]]]) -> None:
    held: dict[int, tuple[int, int]] = {}
    cache, hits, count = TextureCache(), 0, 0
    for serial, words in lookups:
        for word in words:
            line = word // LINE_WORDS
            hits += held.get(line % LINES) == (serial, line)
            held[line % LINES] = serial, line
            count += 1
        cache.look_up(serial, np.array(words, np.int64))
    assert (cache.lookups, cache.hits) == (count, hits)


def observed(key: SamplerKey, size: int = 8, *, watched: bool = True) -> tuple[int, int]:
    """Lookups and hits of 8 by 8 pixels, each over a texel of its own."""
    color = color_surface(Format.A8R8G8B8, 8, 8)
    vertices = [corner(-1, -1), corner(7.5, -1), corner(-1, 7.5), corner(7.5, 7.5)]
    packet = draw(vertices, color=color, pixel=over_pixels(), indices=[0, 1, 2, 2, 1, 3])
    bound = TextureBinding(texture(TextureKind.TEX2D, size, size))
    pipeline = replace(packet.pipeline, samplers=((0, key),))
    counters = Counters()
    packet = rebound(packet, pipeline=pipeline, textures={0: bound})
    for _ in range(2):
        execute_draw(packet, counters, Caches.ALL if watched else Caches.NONE)
    return counters.texture_cache_lookups // 2, counters.texture_cache_hits // 2


KEY = SamplerKey(TextureKind.TEX2D, Format.A8R8G8B8)
LINEAR = replace(KEY, mag=TextureFilter.LINEAR, min=TextureFilter.LINEAR)


def test_every_texel_that_is_read_is_looked_up_and_every_draw_starts_empty() -> None:
    lines = 8 * 8 // LINE_WORDS
    assert observed(KEY) == (64, 64 - lines)
    assert observed(LINEAR) == (256, 256 - lines)


def test_nothing_is_counted_unless_somebody_watches() -> None:
    assert observed(KEY, watched=False) == (0, 0)
