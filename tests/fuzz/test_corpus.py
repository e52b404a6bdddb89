"""A folder of inputs that many processes write."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from dp2emu.fuzz.corpus import HELD, Corpus, name_of
from dp2emu.outputs import write_file


def test_what_one_adds_another_finds(tmp_path: Path) -> None:
    one, other = Corpus(tmp_path, 16), Corpus(tmp_path, 16, [b"seed"])
    assert one.add(b"a") and not one.add(b"a")
    assert len(other) == 1
    other.refresh()
    assert {other.pick(Random(seed)) for seed in range(30)} == {b"seed", b"a"}


def test_short_inputs_are_picked_more_often_and_long_ones_too() -> None:
    corpus, rng = Corpus(None, 1000, [bytes(n) for n in range(1, 101)]), Random(0)
    picked = [len(corpus.pick(rng)) for _ in range(4000)]
    assert 15 < sum(picked) / len(picked) < 25
    assert max(picked) > 60


def test_writers_at_the_same_time_leave_whole_files(tmp_path: Path) -> None:
    inputs = [bytes((n,)) * 5000 for n in range(20)]
    with ThreadPoolExecutor(8) as pool:
        asked = [data for data in inputs for _ in range(4)]
        list(pool.map(lambda data: write_file(tmp_path / name_of(data), data), asked))
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert found == {name_of(data): data for data in inputs}


def test_inputs_of_others_are_cut_to_size_and_folders_are_none(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(bytes(100))
    (tmp_path / "folder").mkdir()
    corpus = Corpus(tmp_path, 16)
    assert [len(corpus), len(corpus.pick(Random(0)))] == [1, 16]


def test_only_so_many_are_held() -> None:
    corpus = Corpus(None, 16, (n.to_bytes(4, "little") for n in range(HELD + 500)))
    assert len(corpus) == HELD
