"""Comparison of pictures: numbers, regions, allowances and side-by-side pictures."""

from dp2emu.diff.images import (
    EXACT,
    RECORDED,
    Allowance,
    Comparison,
    Pixel,
    compare_images,
    pixels_of,
    read_image,
)
from dp2emu.diff.judging import Judge, Judgement, References, judge_paths
from dp2emu.diff.regions import Region, regions
from dp2emu.diff.side_by_side import side_by_side

__all__ = [
    "EXACT",
    "RECORDED",
    "Allowance",
    "Comparison",
    "Judge",
    "Judgement",
    "Pixel",
    "References",
    "Region",
    "compare_images",
    "judge_paths",
    "pixels_of",
    "read_image",
    "regions",
    "side_by_side",
]
