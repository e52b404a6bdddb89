"""Playing a golden scene and saying how it came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dp2emu.dp2.options import Options
from dp2emu.dp2.parsers import CHECKED
from dp2emu.scene import play_scene
from dp2emu.shader.engines import JIT

from .comparing import Verdict, name_of, read_json, verdict
from .listed import KINDS


def played(path: Path, out: Path, engine: str = JIT) -> Verdict:
    """Play a scene into ``out``, by both decoders, and compare, whatever the lists say of it."""
    result = play_scene(path, out, options=Options(engine=engine, parser=CHECKED))
    found = Verdict()
    for problem in result.problems:
        found.fail(str(problem))
    return found if result.problems else verdict(read_json(path), out)


def table(outcomes: Iterable[tuple[str, str]], kinds: Sequence[str] = KINDS) -> Iterator[str]:
    """Lines of the table of families and ``kinds``, of (scene name, kind of its verdict)."""
    counts: dict[str, Counter[str]] = {}
    for name, kind in outcomes:
        counts.setdefault(name.partition("/")[0], Counter())[kind] += 1
    total: Counter[str] = sum(counts.values(), Counter())
    yield _line("family", ("scenes", *kinds))
    for family in sorted(counts):
        yield _counted(family, counts[family], kinds)
    yield _counted("all", total, kinds)


def _counted(family: str, counts: Counter[str], kinds: Sequence[str]) -> str:
    numbers = (counts.total(), *(counts[kind] for kind in kinds))
    return _line(family, (str(number) if number else "-" for number in numbers))


def _line(first: str, rest: Iterable[str]) -> str:
    return f"{first:<10}" + "".join(f"{word:>9}" for word in rest)


def chosen(paths: Iterable[Path], words: Iterable[str]) -> list[Path]:
    """The scenes whose name contains one of the words; all without words."""
    wanted = tuple(words)
    return [p for p in paths if not wanted or any(word in name_of(p) for word in wanted)]
