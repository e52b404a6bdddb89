"""Random streams run to their end, and twice to the same one."""

from __future__ import annotations

import pytest

from dp2emu.dp2.table import TABLE
from dp2emu.shader.engines import JIT
from tests.tools.loading import load_tool

random_streams = load_tool("random_streams")


@pytest.mark.parametrize("seed", range(3))
def test_streams_over_all_tokens_run_to_the_end_and_twice_the_same(seed: int) -> None:
    first, second = random_streams.play(seed, 1000), random_streams.play(seed, 1000)
    assert first == second
    assert not first.missing
    met = first.executed.keys() | first.refused.keys()
    assert met == TABLE.keys()


@pytest.mark.parametrize("seed", range(2))
def test_another_engine_leaves_the_same_memory(seed: int) -> None:
    reference = random_streams.play(seed, 150)
    assert random_streams.play(seed, 150, JIT) == reference


def test_another_seed_is_another_stream() -> None:
    digests = {random_streams.play(seed, 20).digest for seed in range(4)}
    assert len(digests) == 4


def test_script_prints_a_tally(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["random_streams.py", "--seeds", "2", "--calls", "30"])
    assert random_streams.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.endswith("refused")]) == len(TABLE)
    assert lines[-1] == "2 streams of 30 calls, 0 differ: []"


def test_a_stream_that_differs_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    digests = iter("abbcde")
    played = random_streams.Played
    monkeypatch.setattr(random_streams, "play", lambda *_: played(digest=next(digests)))
    monkeypatch.setattr("sys.argv", ["random_streams.py", "--seeds", "3"])
    assert random_streams.main() == 1
    assert "3 differ" in capsys.readouterr().out
