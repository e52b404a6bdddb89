"""First draws of states, each for itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmark import states as module
from benchmark.workloads import Look, workload_of


def test_a_state_is_one_draw_of_a_look() -> None:
    workload = workload_of("small_draws", 0.01)
    parts = [*module.states(workload)]
    looks = [part.steps[0].look for part in parts]
    assert looks == [*dict.fromkeys(step.look for step in workload.steps)]
    assert {len(part.steps) for part in parts} == {1} and len(looks) == 10
    assert [len({*module.states(workload_of("blend", 0.01))})] == [1]


def test_what_a_first_frame_adds_is_what_later_ones_do_not_take(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    times = iter([70.0, 5.0, 9.0, 10.0, 11.0, 50.0])
    monkeypatch.setattr(module, "_timed", lambda draw: next(times))
    workload = workload_of("blend", 1e-6)
    assert module.added(workload, tmp_path / "b.dp2", {}) == 60.0


@pytest.mark.parametrize(("name", "primer"), [("mesh", "textured"), ("small_draws", "mesh")])
def test_another_workload_is_drawn_before(
    name: str, primer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    drawn: list[tuple[str, Look]] = []

    def added(workload: Any, path: Path, options: dict[str, Any]) -> float:
        drawn.append((path.stem, workload.steps[0].look))
        return float(len(drawn))

    monkeypatch.setattr(module, "added", added)
    options = json.dumps({"scale": 0.01, "folder": str(tmp_path)})
    monkeypatch.setattr("sys.argv", ["states", name, options])
    module.main()
    assert drawn[0] == ("primer", workload_of(primer, 0.01).steps[0].look)
    assert json.loads(capsys.readouterr().out) == [float(n) for n in range(2, len(drawn) + 1)]
