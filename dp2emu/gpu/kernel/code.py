"""Kernels as functions in memory."""

from __future__ import annotations

import ctypes
from functools import lru_cache, partial

from dp2emu.gpu.kernel.blocks import Blocks
from dp2emu.gpu.kernel.key import Key, SetupKey
from dp2emu.gpu.kernel.layout import TOGETHER, layout_of, setup_layout
from dp2emu.gpu.kernel.setup import Setup
from dp2emu.gpu.kernel.shading import sampling
from dp2emu.gpu.kernel.spans import spans
from dp2emu.gpu.kernel.triangles import triangles
from dp2emu.gpu.kernel.writing import Code
from dp2emu.shader.jit.code import Source
from dp2emu.shader.jit.improving import Improving
from dp2emu.shader.jit.machine import machine
from dp2emu.shader.jit.writer import Target, module

NAME, SETUP = "kernel", "setup"
PASSES = ("always_inliner", "sroa")
"""What is done with the text: programs go where they are called, and variables to registers."""


def text(key: Key, target: Target) -> str:
    """The module of a kernel."""
    w = Code(target, quads=key.quads)
    blocks = Blocks(w, key, layout_of(key))
    (triangles if key.triangles else spans)(blocks)
    blocks.finish()
    w.do("ret void")
    routines = [
        routine.text(target, inline=key.samples == 1)
        for routine in blocks.coloring.routines.values()
    ]
    if blocks.runs:
        routines += [routine.text(target, inline=True) for routine in sampling(key.samplers)]
        routines.append(blocks.routine.text(target, inline=not key.each))
    return module(*routines, (f"define void @{NAME}({_PARAMETERS}) nounwind", w))


_PAIR = "ptr noalias %arguments, ptr noalias %results"
_PARAMETERS = f"{_PAIR}, i32 %first, i32 %end"


def setup_text(key: SetupKey, target: Target) -> str:
    """The module of what sets triangles up."""
    w = Code(target)
    Setup(w, key, setup_layout(key)).whole()
    w.do("ret void")
    return module(
        (f"define void @{SETUP}(ptr noalias %arguments, ptr noalias %results) nounwind", w)
    )


def target_of(key: Key) -> Target:
    """What the kernel and the programs it calls are written for."""
    return Target(key.width, machine().fused, machine().rounding)


@lru_cache(maxsize=1 << 10)
def kernel(key: Key) -> Improving:
    """The kernel of a key, compiled now or by an earlier process.

    What runs is called with the addresses of arguments and results, the first row and one past
    the last, without Python's lock.
    """
    target = target_of(key)
    return Improving(Source((key, target), partial(text, key, target), NAME, PASSES), KIND)


@lru_cache(maxsize=1 << 10)
def setup(key: SetupKey) -> Improving:
    """What sets triangles up and is called with the addresses of arguments and results."""
    target = Target(TOGETHER, machine().fused)
    return Improving(Source((key, target), partial(setup_text, key, target), SETUP), SETUP_KIND)


KIND = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32)
SETUP_KIND = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
