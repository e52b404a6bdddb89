"""Version tokens and names."""

from __future__ import annotations

from dp2emu.shader.sm.versions import BY_NAME, BY_TOKEN, VERSIONS, entry

TOKENS = {
    "vs_1_0": 0xFFFE0100, "vs_1_1": 0xFFFE0101, "vs_2_0": 0xFFFE0200, "vs_2_x": 0xFFFE0201,
    "vs_2_sw": 0xFFFE02FF, "vs_3_0": 0xFFFE0300, "vs_3_sw": 0xFFFE03FF,
    "ps_1_0": 0xFFFF0100, "ps_1_1": 0xFFFF0101, "ps_1_2": 0xFFFF0102, "ps_1_3": 0xFFFF0103,
    "ps_1_4": 0xFFFF0104, "ps_2_0": 0xFFFF0200, "ps_2_x": 0xFFFF0201, "ps_2_sw": 0xFFFF02FF,
    "ps_3_0": 0xFFFF0300, "ps_3_sw": 0xFFFF03FF,
}  # fmt: skip


def test_versions_are_exactly_these() -> None:
    assert {version.name: version.token for version in VERSIONS} == TOKENS
    assert list(BY_NAME) == list(TOKENS)
    assert list(BY_TOKEN) == list(TOKENS.values())


def test_instructions_have_lengths_from_2_0_on() -> None:
    sized = {version.name for version in VERSIONS if version.has_lengths}
    assert sized == {name for name in TOKENS if name[3] != "1"}


def test_is_ps_1_x_shaders_are_those_before_2_0() -> None:
    early = {version.name for version in VERSIONS if version.is_ps_1_x}
    assert early == {name for name in TOKENS if name.startswith("ps_1")}


def test_newest_step_that_has_come_counts() -> None:
    steps = {(1, 1): "a", (2, 0): "b"}
    found = [entry(steps, level) for level in ((1, 0), (1, 1), (1, 4), (2, 0), (3, 0))]
    assert found == [None, "a", "a", "b", "b"]
