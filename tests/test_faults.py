"""What the machine refuses ends in a clear error, and what was done before it stays."""

from __future__ import annotations

import errno
import io
import os
import shutil
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from dp2emu.capture import CaptureWriter, LogWriter, open_capture
from dp2emu.capture.records import Annotation, Called, MemoryWritten, Record
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Call
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error, Fault
from dp2emu.fuzz.corpus import Corpus, name_of
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.replay import replay
from dp2emu.shader.jit.object_cache import ObjectCache
from tests.cli.processes import await_that, forked
from tests.dp2.rigging import END, Bench, clear, create, issue, rectangle, triangle_list
from tests.replay.authoring import SETTING, called
from tests.replay.authoring import clear as cleared

RECORDS: list[Record] = [
    Annotation("title", "x" * 100),
    *(Called(Call(1, 3, commands=bytes(n))) for n in range(4)),
]
QUAD = rectangle(0, 0, 8, 8)
WORK = create(9, QueryType.OCCLUSION) + clear() + triangle_list(0, 2) + issue(9, END)
WRITERS = [CaptureWriter, LogWriter]


class Failing(io.BytesIO):
    """A file of which the operation number ``bad`` fails; ``most`` bytes are taken at a time."""

    def __init__(self, bad: int, error: int, most: int = 1 << 30, data: bytes = b"") -> None:
        super().__init__(data)
        self.left, self.error, self.most = bad, error, most

    def step(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise OSError(self.error, os.strerror(self.error))

    def write(self, data: Any, /) -> int:
        self.step()
        return super().write(memoryview(data)[: self.most])

    def flush(self) -> None:
        self.step()

    def read(self, size: int | None = -1, /) -> bytes:
        self.step()
        return super().read(size)


def records_of(data: bytes) -> list[Record]:
    if len(data) < 8:
        return []
    return list(open_capture(io.BytesIO(data)).records())


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("writer", WRITERS)
def test_each_write_that_fails_is_told_and_what_is_there_reads(
    writer: Callable[[Any], Any], error: int
) -> None:
    for bad in count(1):
        file = Failing(bad, error)
        try:
            with writer(file) as out:
                for record in RECORDS:
                    out.write(record)
        except OSError as raised:
            assert raised.errno == error
            found = records_of(file.getvalue())
            assert found == RECORDS[: len(found)]
            continue
        assert records_of(file.getvalue()) == RECORDS
        assert bad > 5
        return


@pytest.mark.parametrize("most", [1, 7, 1000])
@pytest.mark.parametrize("writer", WRITERS)
def test_writes_that_take_a_part_are_gone_on_with(writer: Callable[[Any], Any], most: int) -> None:
    file = Failing(0, 0, most)
    with writer(file) as out:
        for record in RECORDS:
            out.write(record)
    assert records_of(file.getvalue()) == RECORDS


def test_each_read_that_fails_is_told() -> None:
    whole = io.BytesIO()
    with CaptureWriter(whole) as out:
        for record in RECORDS:
            out.write(record)
    for bad in count(1):
        try:
            found = list(open_capture(Failing(bad, errno.EIO, data=whole.getvalue())).records())
        except OSError as raised:
            assert raised.errno == errno.EIO
            continue
        assert found == RECORDS
        assert bad > 5
        return


class Allocations:
    """Lets an allocation of NumPy's fail, by its number.  Mutable: it counts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 0
        for name in ("empty", "zeros", "full", "ones", "concatenate"):
            monkeypatch.setattr(np, name, self.failing(getattr(np, name)))

    def failing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def allocate(*given: Any, **named: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise MemoryError
            return function(*given, **named)

        return allocate


@pytest.mark.parametrize("engine", ["reference", "jit"])
def test_each_allocation_that_fails_ends_the_call_and_no_other(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Allocations(monkeypatch)
    for bad in count(1):
        bench = Bench(options=Options(engine=engine))
        memory.left = bad
        try:
            answer = bench.call(WORK, QUAD)
        except Dp2Error as error:
            assert isinstance(error, Fault)
            assert error.hr == HResult.DDERR_OUTOFMEMORY
        else:
            if memory.left > 0:
                assert answer.ddrval == 0
                assert bad > 3
                return
        memory.left = 0
        assert bench.call(clear()).ddrval == 0


def test_a_surface_there_is_no_memory_for_is_refused_as_drivers_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory, bench = Allocations(monkeypatch), Bench()
    memory.left = 1
    with pytest.raises(Fault, match="no memory") as raised:
        bench.driver.create_surface(SurfaceDesc(9, SurfaceKind.MEMORY, 64))
    assert raised.value.hr == HResult.DDERR_OUTOFMEMORY
    bench.driver.create_surface(SurfaceDesc(9, SurfaceKind.MEMORY, 64))


def write_on(path: str, told: str, form: str) -> None:
    """Write a capture that never ends, and say after each record that it was written."""
    written = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with FORMS[form](path) as out:
        for record in SETTING:
            out.write(record)
        for number in count():
            out.write(made(form, number))
            os.write(written, number.to_bytes(4, "little"))


def made(form: str, number: int) -> Record:
    if form == "small chunks":
        return Annotation(f"key{number}", "x" * 300)
    return called(cleared(number & 0xFF))


CHUNK = 4096
FORMS: dict[str, Callable[[str], CaptureWriter | LogWriter]] = {
    "sealed": CaptureWriter,
    "log": LogWriter,
    "small chunks": lambda path: CaptureWriter(path, chunk_bytes=CHUNK),
}
LOST = {"sealed": 0, "log": 0, "small chunks": CHUNK // 300 + 1 + len(SETTING)}
"""Records that were written and are lost at most: calls end a chunk, others are one at most."""


def check_killed(form: str, seed: int, folder: Path) -> None:
    path, told = folder / f"{seed}.dp2", folder / f"{seed}.told"
    writer = forked(write_on, str(path), str(told), form)
    await_that(lambda: told.exists() and told.stat().st_size > 0)
    time.sleep(Random(seed).uniform(0, 0.01))
    writer.kill()
    writer.join()
    with open_capture(path) as capture:
        found = list(capture.records())
        assert capture.damage is not None
    written = [*SETTING, *(made(form, number) for number in range(len(found)))]
    assert found == written[: len(found)]
    assert len(found) >= len(SETTING) + told.stat().st_size // 4 - LOST[form]
    with open_capture(path) as capture:
        tally = replay(capture)
    assert tally.faults == 0 and tally.damage is not None
    assert tally.calls == sum(isinstance(record, Called) for record in found)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(2))
def test_a_writer_that_is_killed_loses_the_chunk_under_way_at_most(
    form: str, seed: int, tmp_path: Path
) -> None:
    check_killed(form, seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_writer_may_be_killed_at_any_time(form: str, tmp_path: Path) -> None:
    for seed in range(200):
        check_killed(form, seed, tmp_path)


def write_memory_on(path: str, told: str) -> None:
    """Write a capture without calls that never ends, and say how many bytes were written."""
    written, rng, total = os.open(told, os.O_WRONLY | os.O_CREAT), Random(1), 0
    with CaptureWriter(path) as out:
        while True:
            data = rng.randbytes(rng.randrange(1, 3000))
            out.write(MemoryWritten(1, 0, data))
            total += len(data)
            os.pwrite(written, total.to_bytes(8, "little"), 0)


@pytest.mark.parametrize("least", [1, 800_000])
def test_a_writer_that_is_killed_loses_64_kib_of_writes_at_most(
    least: int, tmp_path: Path
) -> None:
    path, told = tmp_path / "killed.dp2", tmp_path / "told"

    def total() -> int:
        return int.from_bytes(told.read_bytes(), "little") if told.exists() else 0

    writer = forked(write_memory_on, str(path), str(told))
    await_that(lambda: total() >= least, writer)
    writer.kill()
    writer.join()
    with open_capture(path) as capture:
        found = [r for r in capture.records() if isinstance(r, MemoryWritten)]
    rng = Random(1)
    assert all(record.data == rng.randbytes(rng.randrange(1, 3000)) for record in found)
    assert total() - sum(len(record.data) for record in found) <= 64 << 10


def _inputs(seed: int) -> Iterator[bytes]:
    rng = Random(seed % 2)  # two writers at a time write the same
    for _ in range(40):
        yield rng.randbytes(50)


def fill_corpus(folder: str, seed: int) -> None:
    corpus = Corpus(Path(folder), 4096)
    for data in _inputs(seed):
        corpus.add(data)
        corpus.refresh()


def fill_cache(folder: str, seed: int) -> None:
    store = ObjectCache(Path(folder), limit=4000)
    for number, data in enumerate(_inputs(0)):
        store.put(f"key{number}", data)
        assert store.get(f"key{number}") in (None, data)


def fill_for_ever(fill: Callable[[str, int], None], folder: str, seed: int) -> None:
    while True:
        fill(folder, seed)
        shutil.rmtree(folder)


def test_writers_of_a_corpus_do_not_disturb_each_other(tmp_path: Path) -> None:
    writers = [forked(fill_corpus, str(tmp_path), seed) for seed in range(4)]
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 4
    wanted = {name_of(data): data for seed in range(2) for data in _inputs(seed)}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == wanted


def test_writers_of_a_cache_do_not_disturb_each_other(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    writers = [forked(fill_cache, str(folder), seed) for seed in range(4)]
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert all(path.suffix == ".object" for path in folder.iterdir())


@pytest.mark.parametrize("fill", [fill_corpus, fill_cache])
def test_writers_that_are_killed_leave_whole_files_or_none(
    fill: Callable[[str, int], None], tmp_path: Path
) -> None:
    folder = tmp_path / "shared"
    for seed in range(3):
        writer = forked(fill_for_ever, fill, str(folder), seed)
        await_that(lambda: folder.exists() and any(folder.iterdir()), writer)
        time.sleep(Random(seed).uniform(0, 0.01))
        writer.kill()
        writer.join()
        folder.mkdir(exist_ok=True)
        fill(str(folder), 1)
        for path in folder.glob("[!.]*"):
            whole = fill is fill_cache or name_of(path.read_bytes()) == path.name
            assert whole, path
