"""What a report collects of a capture: pictures, state, queries, histories, differences."""

from __future__ import annotations

import math
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dp2emu.diff import Allowance, References
from dp2emu.diff.images import read_image
from dp2emu.dp2.options import Options
from dp2emu.errors import UsageError
from dp2emu.explain import pixel_probe
from dp2emu.explain.address import parse_address
from dp2emu.explain.events import Event, EventKind, Origin
from dp2emu.explain.pixel_fragment import DepthSeen, Verdict
from dp2emu.explain.pixel_history import Entry, History, Pixel, default_target, history_of
from dp2emu.explain.pixel_survey import Reach
from dp2emu.explain.playback import Observer, Stage, events_of, play
from dp2emu.explain.report import arguments, differences, queries, setting_steps, shaders, targets
from dp2emu.explain.report import model as model_of_page
from dp2emu.explain.report.copies import Copied
from dp2emu.explain.report.differences import KeepingJudge, pictures_of
from dp2emu.explain.report.histories import Spot, affordable, differing, histories, history_row
from dp2emu.explain.report.model import report_model
from dp2emu.explain.report.states import StateSteps
from dp2emu.explain.state import found_setters, state_at
from dp2emu.gpu.command.packets import Draw, Packet
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.draw.probe import Probe
from dp2emu.limits import Limits
from dp2emu.picture import encode_png, take_depth, take_picture
from dp2emu.replay.frames import Frames
from tests.cli.running import dp2emu
from tests.explain.opening import FIRST_LIGHT, FOLDER, REAL, opened

REAL_BY_NAME = {path.stem: path for path in REAL}


def unpacked(text: str, width: int, height: int, channels: int) -> NDArray[np.uint8]:
    """The bytes of a packed difference, as the page's script computes them."""
    filtered = np.frombuffer(zlib.decompress(b64decode(text)), np.uint8)
    return np.add.accumulate(filtered.reshape(height, width, channels), axis=1, dtype=np.uint8)


def pictures(model: dict[str, Any], series: dict[str, Any]) -> dict[int, NDArray[np.uint8]]:
    """The pictures of a series by event, from their differences."""
    size = series["height"], series["width"], series["channels"]
    image, found = np.zeros(size, np.uint8), {}
    for each in series["pictures"]:
        left, top, width, height = each["box"]
        if each["whole"]:
            image[...] = 0
        part = image[top : top + height, left : left + width]
        part += unpacked(model["blobs"][each["data"]], width, height, size[2])
        found[each["event"]] = image.copy()
    return found


class Taken(Observer):
    """Takes the pictures of surfaces 2 and 3 after each event.  Mutable: it grows."""

    def __init__(self) -> None:
        self.colors: dict[int, NDArray[Any]] = {}
        self.depths: dict[int, NDArray[Any]] = {}

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Take both pictures."""
        self.colors[event.number] = take_picture(stage.surface(2)).image.copy()
        self.depths[event.number] = take_depth(stage.surface(3)).image.copy()


def test_pictures_after_each_event_are_those_of_the_targets(first_light: dict[str, Any]) -> None:
    taken = Taken()
    with opened(FIRST_LIGHT) as capture:
        play(capture, [taken])
    color, depth = (
        next(each for each in first_light["series"] if each["shows"] == shows)
        for shows in ("color", "depth")
    )
    for series, expected in ((color, taken.colors), (depth, taken.depths)):
        stored, now = pictures(first_light, series), None
        for event in range(-1, len(first_light["events"])):
            now = stored.get(event, now)
            if event >= 1:
                wanted = expected[event]
                assert now is not None
                shown = now if wanted.ndim == 3 else now[..., 0].astype(int) * 256 + now[..., 1]
                np.testing.assert_array_equal(shown, wanted)


class LastTarget(Observer):
    """Takes the picture of the first target of the last draw.  Mutable: it is replaced."""

    image: NDArray[Any]
    handle: int

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Take the picture."""
        if event.kind == "draw":
            self.handle = event.targets[0]
            self.image = take_picture(stage.surface(self.handle)).image.copy()


@pytest.mark.parametrize("trace", REAL, ids=lambda path: path.stem)
def test_pictures_of_each_interface_end_with_what_was_drawn(trace: Path) -> None:
    last = LastTarget()
    with opened(trace) as capture:
        play(capture, [last])
    with opened(trace) as capture:
        model = report_model(capture)
    series = next(each for each in model["series"] if each["surface"] == last.handle)
    draw = [event["number"] for event in model["events"] if event["kind"] == "draw"][-1]
    found = pictures(model, series)
    assert len(found) > 1
    shown = [image for event, image in found.items() if event <= draw][-1]
    np.testing.assert_array_equal(shown, last.image)


def test_both_engines_give_the_same_page(first_light: dict[str, Any]) -> None:
    with opened(FIRST_LIGHT) as capture:
        other = report_model(
            capture, file="streams/first_light.dp2", pixels=[(186, 121)],
            options=Options(engine="reference"),
        )  # fmt: skip
    assert other == first_light


def test_steps_of_state_add_up_to_the_state() -> None:
    steps = StateSteps()
    states = [{"a": 1, "b": {"c": [1.0, 2.0]}}, {"a": 1, "b": {"d": 5}}, {"a": 2, "b": {"d": 5}}]
    for event, facts in enumerate(states):
        steps.add(event, "1", steps.changes("1", facts), wanted=event != 1)
    row = steps.row()
    assert row["paths"] == ["a", "b\x1fc", "b\x1fd"]
    # What event 1 changed, which is not on the page, comes with event 2.
    values = row["values"]
    changes = {
        event: {row["paths"][path]: None if at < 0 else values[at] for path, at in step}
        for event, step in row["contexts"]["1"]
    }
    assert changes == {0: {"a": 1, "b\x1fc": [1.0, 2.0]}, 2: {"a": 2, "b\x1fc": None, "b\x1fd": 5}}


def test_a_change_has_its_setter_and_one_that_was_set_back_is_none() -> None:
    steps = StateSteps()
    steps.add(0, "1", steps.changes("1", {"a": 1, "b": 1}, "0:1 FIRST"), wanted=True)
    changes = steps.changes("1", {"a": 2, "b": 5}, "1:0 ONE")
    changes |= steps.changes("1", {"a": 2, "b": 1}, "1:1 OTHER")
    steps.add(1, "1", changes, wanted=True)
    row = steps.row()
    # What was there at the first look has no known setter.
    assert row["contexts"] == {"1": [(0, [(0, 0), (1, 0)]), (1, [(0, 1, 0)])]}
    assert (row["paths"], row["values"], row["setters"]) == (["a", "b"], [1, 2], ["1:0 ONE"])


def _reported_setters(model: dict[str, Any], event: int) -> dict[tuple[str, ...], str]:
    """The setters of what changed at an event, by path."""
    state = model["state"]
    [found] = [step for steps in state["contexts"].values() for at, step in steps if at == event]
    return {
        tuple(state["paths"][path].split("\x1f")): state["setters"][setter[0]]
        for path, _, *setter in found
    }


@pytest.mark.parametrize(
    ("trace", "one", "other"),
    [
        (REAL_BY_NAME["d3d9_tri"], 0, 1),
        (FOLDER / "state_blocks.dp2", 4, 5),
        (REAL_BY_NAME["sokol_texcube"], 6, 8),
    ],
    ids=lambda value: getattr(value, "stem", None),
)
def test_setters_of_a_page_are_those_of_state(trace: Path, one: int, other: int) -> None:
    states = []
    for event in (one, other):
        with opened(trace) as capture:
            states.append(state_at(capture, parse_address(f"E{event}")))
    with opened(trace) as capture:
        known = found_setters(capture, *states)
    assert known is not None
    with opened(trace) as capture:
        model = report_model(capture)
    expected = {path: str(setter) for path, setter in known.changed.items()}
    found = _reported_setters(model, other)
    both = {path for path in found if path in expected}
    assert len(both) > len(expected) / 2
    assert {path: found[path] for path in both} == {path: expected[path] for path in both}


def test_values_of_states_have_sdk_names(first_light: dict[str, Any]) -> None:
    state = first_light["state"]
    names = {
        (state["paths"][path].split("\x1f")[-1], state["values"][value]): name
        for path, value, name in state["names"]
    }
    assert names["D3DRS_CULLMODE", 1] == "D3DCULL_NONE"


def test_setters_beyond_the_steps_of_a_page_are_named_as_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(setting_steps, "STEPS", 3)
    with opened(REAL_BY_NAME["d3d9_tri"]) as capture:
        model = report_model(capture)
    assert any("does not know the setter" in note for note in model["notes"])


def test_queries_have_their_times_and_where_they_were_delivered() -> None:
    with opened(FOLDER / "event_latency.dp2") as capture:
        rows = report_model(capture)["queries"]
    assert rows
    for row in rows:
        times = [row[name] for name in ("issued", "executing", "signaled", "delivered")]
        known = [time for time in times if time is not None]
        assert known == sorted(known)
        assert (row["state"] == "delivered") == (row["offset"] is not None)


def test_events_have_the_arguments_that_state_shows() -> None:
    (trace,) = (path for path in REAL if path.stem == "sokol_texcube")
    for path in (FIRST_LIGHT, trace):
        with opened(path) as capture:
            events = report_model(capture)["events"]
            draws = [each for each in events if each["kind"] == "draw"]
            for event in (draws[0], draws[-1]):
                facts = state_at(capture, parse_address(f"E{event['number']}"))["arguments"]
                values = [line.partition(": ")[2] or line for line in event["arguments"]]
                assert values == list(facts.values())[1:] != []


def test_events_beyond_the_room_of_a_page_have_no_arguments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arguments, "CHARACTERS", 0)
    with opened(FIRST_LIGHT) as capture:
        model = report_model(capture)
    assert len([each for each in model["events"] if each["arguments"]]) == 1
    assert any("events have no arguments here" in note for note in model["notes"])


def test_objects_of_a_page_have_the_call_that_created_them() -> None:
    (trace,) = (path for path in REAL if path.stem == "sokol_texcube")
    with opened(trace) as capture:
        created = report_model(capture)["state"]["created"]
        known = state_at(capture, parse_address("E3"))["created"]
    assert known.items() <= {name: created.get(int(name.split()[-1])) for name in known}.items()


def test_an_answer_has_the_account_that_why_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    path = FOLDER / "event_latency.dp2"
    with opened(path) as capture:
        rows = report_model(capture)["queries"]
    told = {line for row in rows for line in row["told"]}
    for row in rows:
        printed = dp2emu("why", path, row["query"]).out.decode().splitlines()
        assert printed and told >= set(printed)
    monkeypatch.setattr(queries, "TOLD", 0)
    with opened(path) as capture:
        assert [row["told"] for row in report_model(capture)["queries"]] == [[]] * len(rows)


def test_last_value_of_a_history_is_the_pixel_of_the_picture(first_light: dict[str, Any]) -> None:
    rows = first_light["histories"]["2/color"]["186,121"]
    color = next(each for each in first_light["series"] if each["shows"] == "color")
    last = list(pictures(first_light, color).values())[-1][121, 186]
    written = [row for row in rows if row["verdict"] == "written"][-1]
    assert [round(255 * value) for value in written["after"][:3]] == last[:3].tolist()
    assert {"coverage", "written"} <= {row["verdict"] for row in rows}


def test_pixels_that_differ_from_a_reference_have_histories(tmp_path: Path) -> None:
    trace = next(path for path in REAL if path.stem == "d3d9_tri")
    with opened(trace) as capture, pictures_of(capture) as references:
        [path] = references.folder.glob("*.png")
        image = read_image(path).copy()
    image[120:122, 125:128] ^= 255
    (tmp_path / path.name).write_bytes(encode_png(image))
    with opened(trace) as capture:
        model = report_model(capture, against=References(tmp_path), allowance=Allowance(4))
    [row] = model["differences"]
    assert not row["within"]
    assert row["first"] == [125, 120]
    spots = {f"{x},{y}" for x in (125, 126, 127) for y in (120, 121)}
    assert set(model["histories"][f"{row['surface']}/color"]) == spots


def test_pictures_of_another_capture_are_references() -> None:
    with (
        opened(FIRST_LIGHT) as capture,
        pictures_of(capture) as references,
        opened(FIRST_LIGHT) as again,
    ):
        model = report_model(again, against=references)
    assert [row["summary"] for row in model["differences"]] == ["equal within the tolerance"]


def _judged(folder: Path, beyond: list[int]) -> KeepingJudge:
    """A judge of pictures of noise, of which so many pixels differ picture by picture."""
    noise = np.random.default_rng(1).integers(0, 255, (40, 40, 3), np.uint8)
    images = {f"picture{number}.png": noise.copy() for number in range(len(beyond))}
    for name in images:
        (folder / name).write_bytes(encode_png(noise))
    judge = KeepingJudge(References(folder), Allowance(0), lambda: 0, lambda name, call: 2)
    for (name, image), pixels in zip(images.items(), beyond, strict=True):
        image.reshape(-1, 3)[:pixels] += 1
        judge.judge(name, None, image)
    return judge


@pytest.mark.parametrize("beyond", [[0, 0, 0, 7, 3], [0, 0, 3, 7, 0], [7, 3, 0, 0, 0]])
def test_the_pictures_that_differ_most_have_room_whenever_they_come(
    beyond: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differences, "CHARACTERS", 30_000)
    judge = _judged(tmp_path, beyond)
    rows = judge.sorted_rows()
    assert [row["beyond"] for row in rows] == [7, 3, 0, 0, 0]
    assert [row["picture"] is not None for row in rows] == [True, True, False, False, False]
    assert [row["other"] is not None for row in rows] == [True, True, False, False, False]
    assert judge.without == 3


def test_the_worst_picture_is_stored_though_it_alone_has_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differences, "CHARACTERS", 10)
    rows = _judged(tmp_path, [0, 5, 9]).sorted_rows()
    assert [row["picture"] is not None for row in rows] == [True, False, False]


def test_compared_pictures_without_room_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differences, "CHARACTERS", 10)
    chain = FOLDER / "flip_chain.dp2"
    with opened(chain) as one, pictures_of(one) as references, opened(chain) as again:
        model = report_model(again, against=references)
    assert [row["picture"] is None for row in model["differences"]] == [False] + [True] * 6
    assert any(note.startswith("6 compared pictures are not here") for note in model["notes"])


def test_a_resolved_pixel_has_the_history_of_its_source(resolved: dict[str, Any]) -> None:
    spots = {f"{x},{y}" for x in (400, 401, 402) for y in (300, 301)}
    assert {key: set(told) for key, told in resolved["histories"].items()} == {
        "2/color": spots, "3/color": spots
    }  # fmt: skip
    sources = [event["source"] for event in resolved["events"] if event["kind"] == "resolve"]
    whole = (0, 0, 800, 600)
    assert sources == [{"surface": 3, "read": whole, "written": whole}] * 4
    kinds = {row["kind"] for row in resolved["histories"]["3/color"]["400,300"]}
    assert kinds == {"clear", "draw"}


def test_a_copied_pixel_comes_from_its_place_in_the_source() -> None:
    copied = Copied(3, 2, read=(10, 20, 20, 40), written=(100, 100, 120, 120))
    assert copied.source_of(Spot(2, 100, 100)) == Spot(3, 10, 20)
    assert copied.source_of(Spot(2, 119, 119)) == Spot(3, 19, 39)
    assert [copied.source_of(each) for each in (Spot(2, 120, 100), Spot(3, 100, 100))] == [
        None
    ] * 2


@pytest.mark.parametrize("trace", [FIRST_LIGHT, *REAL], ids=lambda path: path.stem)
def test_histories_of_a_page_are_those_of_pixel(trace: Path) -> None:
    with opened(trace) as capture:
        target = default_target(events_of(capture))
    spots = [Spot(target, x, y) for x in (5, 100, 125, 186) for y in (5, 80, 121)]
    with opened(trace) as capture:
        found = histories(capture, spots)
    for spot in (spots[0], spots[8], spots[11]):
        with opened(trace) as capture:
            alone = history_of(capture, Pixel(spot.x, spot.y, spot.target)).document()
        rows = [history_row(row) for row in alone["history"]]
        assert found[target][f"{spot.x},{spot.y}"] == rows


def test_a_draw_is_executed_only_for_the_pixels_that_it_may_touch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    executed: list[bool] = []
    examine = pixel_probe.execute_draw

    def counting(draw: Draw, *, probe: Probe, **more: Any) -> Work:
        executed.append(isinstance(probe, Reach))
        return examine(draw, probe=probe, **more)

    monkeypatch.setattr(pixel_probe, "execute_draw", counting)
    with opened(FIRST_LIGHT) as capture:
        draws = sum(event.kind is EventKind.DRAW for event in events_of(capture))
    with opened(FIRST_LIGHT) as capture:
        found = histories(capture, [Spot(2, x, y) for x in (0, 186, 319) for y in (0, 121, 239)])
    told = [{row["event"] for row in rows if row["kind"] == "draw"} for rows in found[2].values()]
    assert len(told) == 9
    # Once to find what it may touch, and for each pixel there without and with clipping.
    assert executed.count(True) == draws
    assert executed.count(False) == 2 * sum(map(len, told)) < draws * len(told)


def test_histories_are_spread_over_the_pixels_that_differ() -> None:
    spots = [Spot(1, x, 0) for x in range(1000)]
    chosen = affordable(spots, draws=1)
    assert len(chosen) == 48
    assert (chosen[0].x, chosen[-1].x) == (0, 999)
    assert affordable(spots, draws=10**6) == spots[:1]


def test_a_page_ends_where_the_verb_has_observed_too_much() -> None:
    """The clear has room, the draw behind it has none."""
    found = model_of_page.EVENT_BYTES + 60 * model_of_page.FACT_BYTES
    options = Options(limits=Limits(observed_bytes=found + 20_000_000))
    with opened(FIRST_LIGHT) as capture:
        model = report_model(capture, options=options)
    with opened(FIRST_LIGHT) as capture:
        count = len(report_model(capture)["events"])
    shown = len(model["events"])
    assert 0 < shown < count
    assert f"{count - shown} events are not on this page" in model["notes"][0]


def test_only_the_chosen_events_are_on_the_page(first_light: dict[str, Any]) -> None:
    with opened(FIRST_LIGHT) as capture:
        model = report_model(capture, wanted=Frames(5, 8))
    assert [event["number"] for event in model["events"]] == [5, 6, 7, 8]
    whole = next(each for each in first_light["series"] if each["shows"] == "color")
    part = next(each for each in model["series"] if each["shows"] == "color")
    expected, found = pictures(first_light, whole), pictures(model, part)
    assert list(found) == [4, 5, 6, 7, 8]
    for event, image in found.items():
        np.testing.assert_array_equal(image, expected[event])
    assert "12 events are not on this page" in model["notes"][0]


@pytest.mark.parametrize("last", [None, 3])
def test_state_is_read_for_events_of_the_page_alone(
    last: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Origin] = []
    facts = Stage.facts

    def counted(stage: Stage, origin: Origin, *, queries: bool = True) -> dict[str, str]:
        read.extend([origin] if origin.name else [])
        return facts(stage, origin, queries=queries)

    monkeypatch.setattr(Stage, "facts", counted)
    if last is None:
        monkeypatch.setattr(model_of_page, "EVENTS", 4)
    with opened(FIRST_LIGHT) as capture:
        part = report_model(capture, wanted=Frames(0, last))
        assert [origin.name for origin in read] == ["CLEAR", "DRAWPRIMITIVE", "DRAWPRIMITIVE"]
        monkeypatch.undo()
        whole = report_model(capture)
    assert part["events"] == whole["events"][:4]


def test_a_range_without_events_names_those_there_are() -> None:
    with opened(FIRST_LIGHT) as capture, pytest.raises(UsageError, match="there are E0 to E15"):
        report_model(capture, wanted=Frames(100, 200))


def test_a_full_page_keeps_the_pictures_at_the_end_of_frames(
    monkeypatch: pytest.MonkeyPatch, first_light: dict[str, Any]
) -> None:
    monkeypatch.setattr(targets, "EVENT_CHARACTERS", 0)
    with opened(FIRST_LIGHT) as capture:
        model = report_model(capture)
    whole = next(each for each in first_light["series"] if each["shows"] == "color")
    part = next(each for each in model["series"] if each["shows"] == "color")
    found = pictures(model, part)
    assert list(found) == [0, 15]
    np.testing.assert_array_equal(found[15], list(pictures(first_light, whole).values())[-1])
    assert any("pictures at the end of frames only" in note for note in model["notes"])


def test_depths_that_are_no_numbers_are_text_in_a_history() -> None:
    seen = DepthSeen(0.5, math.nan, 0.5, "LESSEQUAL", passed=False)
    origin = Origin("DRAWPRIMITIVE")
    entry = Entry(Event(3, EventKind.DRAW, origin), 0, Verdict.DEPTH, [0], [0], depth=seen)
    history = History(3, 0, 0, 0, "D3DFMT_D32F_LOCKABLE", None, [math.nan], [], [entry])
    (row,) = history.document()["history"]
    assert history_row(row)["depth"] == "0.5 LESSEQUAL nan"


def test_a_picture_that_differs_everywhere_gives_few_spots() -> None:
    black, white = np.zeros((200, 300, 3), np.uint8), np.full((200, 300, 3), 255, np.uint8)
    spots = differing(2, black, white, 0)
    assert len({*spots}) == len(spots) == 48
    assert (spots[0], spots[-1]) == (Spot(2, 0, 0), Spot(2, 299, 199))


def test_values_of_events_that_are_not_shown_are_not_on_the_page() -> None:
    steps = StateSteps()
    for event in range(100):
        changes = steps.changes("1", {"a": event, "b": {"c": "same"}})
        steps.add(event, "1", changes, wanted=event in (10, 20))
    row = steps.row()
    assert row["values"] == ["same", 10, 20]
    named = [path.split("\x1f")[-1] for path in row["paths"]]
    assert named == ["a", "c"]
    assert row["contexts"] == {"1": [(10, [(0, 1), (1, 0)]), (20, [(0, 2)])]}


def test_shaders_beyond_the_room_of_a_page_have_no_text(
    monkeypatch: pytest.MonkeyPatch, first_light: dict[str, Any]
) -> None:
    monkeypatch.setattr(shaders, "CHARACTERS", 0)
    with opened(FIRST_LIGHT) as capture:
        model = report_model(capture)
    count = len(first_light["shaders"])
    assert [row["text"] for row in model["shaders"]] == [""] * count
    assert f"{count} shaders have no text here." in model["notes"]
