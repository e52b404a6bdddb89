"""Utilisation of the GPU in an interval, by time and by peak rates.

Each is a pair of integers, part and whole, which a front end converts and rounds once.
"""

from __future__ import annotations

from dp2emu.gpu.command.queries import Report

Usage = tuple[int, int]
"""Utilisation as a pair of part and whole; a whole of 0 is an empty interval, or no work."""

VERTEX = "vertex_memory_ticks", "vertex_compute_ticks"
GEOMETRY = "geometry_memory_ticks", "geometry_compute_ticks"
PIXEL = "pixel_memory_ticks", "pixel_compute_ticks"
VERTEX_CACHE = "vertex_cache_hits", "vertex_cache_misses"
TRAFFIC = "vertex_bytes", "pixel_bytes", "unordered_bytes", "stream_bytes", "upload_bytes"


def total(report: Report, *counters: str) -> int:
    """The sum of the changes of several counters in the interval of a report."""
    return sum(map(report.change, counters))


def busy(report: Report, *counters: str) -> Usage:
    """The ticks in which the units of ``counters`` were busy, as a part of the interval."""
    return total(report, *counters), report.ticks


def idle(report: Report) -> Usage:
    """The ticks in which no unit was busy, as a part of the ticks of the interval; an empty
    interval is all idle.
    """
    if report.ticks == 0:
        return 1, 1
    return max(report.ticks - report.change("busy_ticks"), 0), report.ticks


def used(report: Report, rate: tuple[int, int], *counters: str) -> Usage:
    """Share used of a peak ``rate``, (amount, ticks): the sum of the changes of ``counters``, as a
    part of the amount that the rate allows in the ticks of the interval.
    """
    return total(report, *counters) * rate[1], report.ticks * rate[0]


def part(report: Report, counter: str, *whole: str) -> Usage:
    """The change of one counter, as a part of the sum of the changes of several."""
    return report.change(counter), total(report, *whole)
