"""Ragged arrays: runs of different lengths, one after the other, without a loop."""

from __future__ import annotations

import numpy as np

from dp2emu.gpu.arrays import I64


def starts_of(counts: I64) -> I64:
    """Where each run begins."""
    starts: I64 = np.cumsum(counts) - counts
    return starts


def unrolled(counts: I64) -> tuple[I64, I64]:
    """For each element of runs of so many elements: its run, and its place there from 0 on."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - starts_of(counts)[owner]
