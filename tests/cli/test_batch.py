"""``dp2emu batch``: a row for every file, once, in order, whatever happens to the child."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dp2emu.batch import rows_of
from tests.cli.running import dp2emu
from tests.tools.loading import ROOT

STREAMS = [str(ROOT / "streams" / f"{name}.dp2") for name in ("first_light", "bad_token")]


def files(folder: Path, count: int) -> list[str]:
    made = [folder / f"{number}.dp2" for number in range(count)]
    for path in made:
        shutil.copy(STREAMS[0], path)
    return [str(path) for path in made]


def test_rows_come_in_the_order_of_the_files_for_any_number_of_jobs(tmp_path: Path) -> None:
    given = [*files(tmp_path, 3), STREAMS[1], str(tmp_path / "none.dp2"), STREAMS[0]]
    serial = dp2emu("batch", *given, "--jobs", 1)
    several = dp2emu("batch", *given, "--jobs", 3)
    rows = [json.loads(line) for line in serial.out.splitlines()]
    assert [row["file"] for row in rows] == given
    assert [row["outcome"] for row in rows][-3:] == ["fine", "unusable", "fine"]
    assert rows[0]["calls"] == 2
    assert several.out == serial.out
    assert serial.code == 2
    assert "none.dp2: No such file" in serial.err


def test_a_file_that_is_given_twice_counts_once() -> None:
    ran = dp2emu("batch", STREAMS[0], STREAMS[0])
    assert len(ran.out.splitlines()) == 1


def test_shards_together_have_every_file_once(tmp_path: Path) -> None:
    given = files(tmp_path, 5)
    found = []
    for shard in ("1/2", "2/2"):
        ran = dp2emu("batch", *given, "--shard", shard, "--jobs", 1)
        found += [json.loads(line)["file"] for line in ran.out.splitlines()]
    assert sorted(found) == given


def test_a_run_that_was_cut_off_is_gone_on_with(tmp_path: Path) -> None:
    given, out = files(tmp_path, 4), tmp_path / "results.jsonl"
    assert dp2emu("batch", *given, "--jobs", 1, "--out", out).code == 0
    whole = out.read_bytes()
    out.write_bytes(whole[: len(whole) // 2])
    kept = len(list(rows_of(out)))
    ran = dp2emu("batch", *given, "--jobs", 1, "--out", out, "--resume")
    assert out.read_bytes() == whole
    assert f"{4 - kept} files: {4 - kept} fine, {kept} done before" in ran.err


def test_too_little_time_is_an_outcome_and_the_next_file_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fifo = tmp_path / "endless.dp2"
    fifo.symlink_to("/dev/zero")
    ran = dp2emu("batch", fifo, STREAMS[0], "--seconds", 60, "--memory", 4096, "--jobs", 1)
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert rows[0]["outcome"] in ("unusable", "memory", "timeout")
    assert rows[1]["outcome"] == "fine"


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b"])
def test_a_shard_that_is_none_is_refused(shard: str) -> None:
    assert dp2emu("batch", STREAMS[0], "--shard", shard).code == 2


def test_results_of_something_else_are_not_gone_on_with(tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    out.write_text("hello\n")
    ran = dp2emu("batch", STREAMS[0], "--out", out, "--resume")
    assert (ran.code, out.read_text()) == (2, "hello\n")
    assert "line 1 is not a row of results" in ran.err


def test_resuming_needs_a_file() -> None:
    assert dp2emu("batch", STREAMS[0], "--resume").code == 2
