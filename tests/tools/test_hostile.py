"""The parts that hostile input meets first, and the sample of changes to each."""

from __future__ import annotations

import pytest

from tests.tools.loading import ROOT, load_tool

hostile = load_tool("hostile")
mutate_hostile = load_tool("mutate_hostile")


@pytest.mark.parametrize("name", hostile.PARTS)
def test_a_part_has_modules_and_tests_that_are_there(name: str) -> None:
    part = hostile.PARTS[name]
    assert all((ROOT / "dp2emu" / f"{module}.py").is_file() for module in part.modules)
    files = [test for test in part.tests if test.endswith(".py")]
    assert files
    assert all((ROOT / file).is_file() for file in files)


def test_no_module_is_in_two_parts() -> None:
    modules = [module for part in hostile.PARTS.values() for module in part.modules]
    assert len(modules) == len(set(modules))


def test_every_reader_of_captures_is_in_a_part() -> None:
    modules = {module for part in hostile.PARTS.values() for module in part.modules}
    others = {"entry_values", "guids", "headers", "recorder", "writer", "__init__"}
    for folder in ("capture", "capture/apitrace"):
        for path in (ROOT / "dp2emu" / folder).glob("*.py"):
            assert (f"{folder}/{path.stem}" in modules) != (path.stem in others)


def test_all_samples_are_200_changes() -> None:
    assert sum(part.sample for part in hostile.PARTS.values()) == 200


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    part = hostile.PARTS["responses"]
    first, second, other = (
        [trial[:2] for trial in mutate_hostile.sample(part, seed)] for seed in (9, 9, 8)
    )
    assert len(set(first)) == part.sample
    assert first == second != other
