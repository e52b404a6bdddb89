"""Kernels as functions in memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import lru_cache, partial

from dp2emu.gpu.code.block_writer import Code
from dp2emu.gpu.code.kernel_key import Key, SetupKey
from dp2emu.gpu.code.kernel_layout import TOGETHER, layout_of
from dp2emu.gpu.compile.block_code import Blocks
from dp2emu.gpu.compile.kernel_front import FRONT, ROWS, FrontKey, front, joined, parameters, rows
from dp2emu.gpu.pixel_shader.pixel_code import sampling
from dp2emu.gpu.rasterizer.spans_code import spans
from dp2emu.gpu.rasterizer.triangle_setup_code import Setup
from dp2emu.gpu.rasterizer.triangles_code import Records, places, rows_within, triangles
from dp2emu.shader.jit.code import Source
from dp2emu.shader.jit.machine import machine
from dp2emu.shader.jit.tiering import TieredFunction
from dp2emu.shader.jit.writer import Target, Writer, module

NAME, SETUP = "kernel", "setup"
PASSES = ("always_inliner", "sroa")
"""What is done with the text: programs go where they are called, and variables to registers."""


def text(key: Key, target: Target) -> str:
    """The module of a kernel."""
    w = Code(target, quads=key.quads)
    blocks = Blocks(w, key, layout_of(key))
    if key.triangles:
        samples = places(key.samples, by_sample=key.by_sample)
        triangles(w, samples, Records.of(blocks.layout), rows_within(blocks))
    else:
        spans(blocks)
    blocks.finish()
    w.do("ret void")
    return module(*_routines(blocks), (_HEADER, w))


def text_in_two(key: Key, target: Target) -> str:
    """The module of a kernel for triangles that calls the front (``front``), and has less text."""
    w, whole = Code(target, quads=key.quads), Code(target)
    blocks = Blocks(w, key, layout_of(key))
    header = rows(blocks)
    joined(whole)
    for each in (w, whole):
        each.do("ret void")
    return module(*_routines(blocks, paired=False), (header, w), (_HEADER, whole))


def _routines(blocks: Blocks, *, paired: bool = True) -> Iterator[tuple[str, Writer]]:
    """Functions of what the text of a kernel calls."""
    key, target = blocks.key, blocks.w.target
    for routine in blocks.coloring.routines.values():
        yield routine.text(target, inline=key.samples == 1)
    if key.runs:
        for routine in sampling(key.samplers):
            yield routine.text(target, inline=True, paired=paired)
        yield blocks.routine.text(target, inline=not key.each)


_PAIR = (("ptr", "arguments"), ("ptr", "results"))
_PARAMETERS = (*_PAIR, ("i32", "first"), ("i32", "end"))
_HEADER = f"define void @{NAME}({parameters(_PARAMETERS)}) nounwind"


def front_text(key: FrontKey, target: Target) -> str:
    """The module of a front."""
    w = Code(target)
    front(w, key)
    w.do("ret void")
    given = parameters((*_PARAMETERS, ("ptr", ROWS)))
    return module((f"define void @{FRONT}({given}) nounwind", w))


def setup_text(key: SetupKey, target: Target) -> str:
    """The module of what sets triangles up."""
    w = Code(target)
    Setup(w, key).whole()
    w.do("ret void")
    return module((f"define void @{SETUP}({parameters(_PAIR)}) nounwind", w))


def target_of(key: Key) -> Target:
    """What the kernel and the programs it calls are written for."""
    return Target(key.width, machine().fused, machine().rounding)


@lru_cache(maxsize=1 << 10)
def kernel(key: Key) -> TieredFunction:
    """The kernel of a key, compiled now or by an earlier process; at first in two functions if it
    is for triangles.

    What runs is called with the addresses of arguments and results, the first row and one past
    the last, without Python's lock.
    """
    target = target_of(key)
    first = partial(text_in_two, key, target) if key.triangles else None
    whole = partial(text, key, target)
    return TieredFunction(Source((key, target), whole, NAME, PASSES, first), KIND)


@lru_cache(maxsize=8)
def front_of(samples: int, by_sample: bool) -> TieredFunction:
    """The front of kernels for triangles, to be called by code only."""
    key, target = FrontKey(samples, by_sample), Target(TOGETHER, machine().fused)
    return TieredFunction(
        Source((key, target), partial(front_text, key, target), FRONT), FRONT_KIND
    )


@lru_cache(maxsize=1 << 10)
def setup(key: SetupKey) -> TieredFunction:
    """What sets triangles up and is called with the addresses of arguments and results."""
    target = Target(TOGETHER, machine().fused)
    return TieredFunction(
        Source((key, target), partial(setup_text, key, target), SETUP), SETUP_KIND
    )


KIND = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32)
FRONT_KIND = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p
)
SETUP_KIND = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
