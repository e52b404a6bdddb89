"""The page of a report in a real Chromium, without a network."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from dp2emu.capture import CaptureWriter
from dp2emu.d3d.enums import CmpFunc, RenderState
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.explain.report.differences import pictures_of
from dp2emu.explain.report.model import report_model
from tests.explain.opening import opened
from tests.explain.report.conftest import HOSTILE
from tests.explain.test_idle_draws import Calls, call
from tests.replay.authoring import sealed
from tests.replay.test_resources import RGBA8, SIZE, Program
from tests.tools.loading import load_tool

pytestmark = pytest.mark.browser


def test_filter_shows_the_events_that_fit(visit: Any, first_light: dict[str, Any]) -> None:
    page = visit(first_light).page
    assert page.locator(".item[role=option]").count() == len(first_light["events"])
    page.keyboard.press("f")
    page.keyboard.type("kind:draw px>3389")
    fit = [e for e in first_light["events"] if e["kind"] == "draw" and e["pixels"] > 3389]
    names = page.locator(".item[role=option] .no").all_inner_texts()
    assert names == [f"E{event['number']}" for event in fit] != []
    assert page.inner_text("#of") == f"{len(fit)} of {len(first_light['events'])}"


def test_from_a_clicked_pixel_to_its_event_to_the_state_to_the_shader(
    visit: Any, first_light: dict[str, Any]
) -> None:
    shown = visit(first_light)
    page = shown.page
    shown.settled("#pixel", "Click a pixel")
    bounds = page.locator(".easel canvas").first.bounding_box()
    scale = bounds["width"] / 320
    page.mouse.click(bounds["x"] + 186.5 * scale, bounds["y"] + 121.5 * scale)
    shown.settled("#pixel", "Pixel 186, 121")
    shown.settled("#pixel", "all fragments")
    histories = first_light["histories"]["2/color"]["186,121"]
    rows = page.locator("#pixel tbody tr").count()
    assert rows == len(histories)
    written = next(
        row for row in histories if row["kind"] == "draw" and row["verdict"] == "written"
    )
    event = written["event"]
    page.click(f"#pixel button:text-is('E{event}') >> nth=0")
    assert page.locator(".item[aria-selected=true] .no").inner_text() == f"E{event}"
    shown.settled("#pixel", "dp2emu debug streams/first_light.dp2")
    shown.settled("#pixel", f"E{event} pixel 186 121 --primitive {written['primitive']}")
    page.click("#tab-state")
    page.click("#facts button:text-is('All')")
    shown.settled("#facts", "ZENABLE")
    page.click("#tab-shaders")
    shown.settled("#facts pre", "output target0.x")
    page.click("#facts .link")
    assert page.locator("#view-shaders").get_attribute("aria-selected") == "true"
    page.go_back()
    shown.settled("#facts", "output target0.x")


def test_a_pixel_without_a_stored_history_shows_what_changed_it_and_the_command(
    visit: Any, first_light: dict[str, Any]
) -> None:
    shown = visit(first_light, "#view=frame&e=15&pixel=10,10")
    shown.settled("#pixel", "Pixel 10, 10")
    shown.settled("#pixel", "dp2emu pixel streams/first_light.dp2 10 10 --target 2 --at E15")
    changed = shown.page.locator("#pixel tbody tr").all_inner_texts()
    assert [row.split()[0] for row in changed] == ["E2"]
    assert "debug" not in shown.page.locator("#pixel").inner_text()
    shown.page.click("#pixel button:text-is('E2')")
    shown.settled("#pixel", "dp2emu debug streams/first_light.dp2 E2 pixel 10 10")


def test_every_picture_of_the_page_is_the_picture_of_the_target(
    visit: Any, first_light: dict[str, Any]
) -> None:
    page = visit(first_light, "#view=frame&e=12").page
    page.wait_for_function("document.querySelector('.easel canvas').width === 320")
    found = page.evaluate(
        "Array.from(document.querySelector('.easel canvas').getContext('2d')"
        ".getImageData(186, 121, 1, 1).data)"
    )
    last = first_light["histories"]["2/color"]["186,121"][-1]["after"]
    assert found == [round(255 * each) for each in last[:3]] + [255]


def test_an_older_picture_of_a_full_page_says_so(visit: Any, first_light: dict[str, Any]) -> None:
    model = copy.deepcopy(first_light)
    for series in model["series"]:
        series["complete"] = 5
        series["pictures"] = [each for each in series["pictures"] if each["event"] <= 5]
    shown = visit(model, "#view=frame&e=9")
    shown.settled(".tools", "of E5: later pictures are not on this page")
    shown.page.keyboard.press("Home")
    assert "not on this page" not in shown.text(".tools")


def test_keys_move_between_events_views_and_search(
    visit: Any, first_light: dict[str, Any]
) -> None:
    shown = visit(first_light, "#view=frame&e=5")
    page = shown.page
    chosen = page.locator(".item[aria-selected=true] .no")
    for key, number in (("j", 6), ("k", 5), ("ArrowDown", 6), ("Home", 0), ("End", 15)):
        page.keyboard.press(key)
        assert chosen.inner_text() == f"E{number}"
    page.keyboard.press("/")
    page.keyboard.type("1:7")
    page.keyboard.press("Enter")
    assert chosen.inner_text() == "E4"
    page.keyboard.press("s")
    assert page.locator("#tab-state").get_attribute("aria-selected") == "true"
    page.keyboard.press("2")
    assert page.locator("#view-queries").get_attribute("aria-selected") == "true"
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    page.wait_for_function("document.querySelector('dialog[open]') === null")
    before = page.evaluate("document.documentElement.dataset.theme")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") != before


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_colours_follow_the_reader_and_are_legible(
    visit: Any, first_light: dict[str, Any], scheme: str
) -> None:
    page = visit(first_light, scheme=scheme).page
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    low = page.evaluate(_CONTRAST)
    assert low == []


_CONTRAST = """() => {
  const light = (text) => {
    const [r, g, b] = text.match(/[0-9.]+/g).slice(0, 3).map((each) => {
      const part = each / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const low = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !node.checkVisibility()) continue;
    if (node.closest("pre, .sr, .skip")) continue;
    const both = [light(getComputedStyle(node).color), light(behind(node))];
    const [a, b] = both.sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push([texts.currentNode.data, ratio]);
  }
  return low;
}"""
"""Texts whose contrast is below 4.5 to 1 (Web Content Accessibility Guidelines 2.1, 1.4.3)."""


@pytest.mark.parametrize("width", [360, 1280])
def test_no_view_is_wider_than_the_window(
    visit: Any, first_light: dict[str, Any], width: int
) -> None:
    page = visit(first_light).page
    page.set_viewport_size({"width": width, "height": 800})
    for view in ("frame", "queries", "shaders", "textures", "statistics"):
        page.evaluate("(view) => { location.hash = `view=${view}`; }", view)
        page.wait_for_timeout(20)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view


def test_all_controls_have_names(visit: Any, first_light: dict[str, Any]) -> None:
    page = visit(first_light, "#view=frame&e=12&pixel=186,121").page
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, select, [role=img], [role=listbox],"
        " [role=tablist], section, nav')].filter((each) => each.checkVisibility() &&"
        " !(each.innerText || each.ariaLabel || each.labels?.length"
        " || each.getAttribute('aria-label'))).map((each) => each.outerHTML.slice(0, 120))"
    )
    assert nameless == []


def test_print_has_every_table_and_the_picture(visit: Any, first_light: dict[str, Any]) -> None:
    page = visit(first_light, "#view=frame&e=12").page
    page.wait_for_function("document.querySelector('.easel canvas').width === 320")
    page.emulate_media(media="print")
    page.wait_for_selector("#print table")
    assert not page.is_visible("main")
    assert page.locator("#print table[aria-label=Events] tbody tr").count() == 16
    assert page.locator("#print img").evaluate("(image) => image.naturalWidth") == 320
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.emulate_media(media="screen")
    assert page.is_visible("main")


def test_differences_come_first_and_lead_to_the_event(
    visit: Any, first_light: dict[str, Any]
) -> None:
    model = copy.deepcopy(first_light)
    picture = {"width": 2, "height": 1, "channels": 3}
    model["differences"] = [
        {
            "name": "call_1.png", "reference": "call_1.png", "event": 10, "surface": 2,
            "within": False, "summary": "1 of 2 pixels differ", "numbers": [["Largest", 9]],
            "first": [1, 0],
            "picture": picture | {"data": _zlib_base64(bytes([1, 2, 3, 0, 0, 0]))},
            "other": picture | {"data": _zlib_base64(bytes([1, 2, 3, 9, 0, 0]))},
        }
    ]  # fmt: skip
    shown = visit(model)
    shown.settled(".compare .pixel", "Pixel 1, 0")
    shown.settled(".compare .pixel", "1 2 3")
    shown.settled(".compare .pixel", "10 2 3")
    shown.page.click(".compare .pixel .link")
    assert shown.page.locator(".item[aria-selected=true] .no").inner_text() == "E10"
    shown.settled("#pixel", "Pixel 1, 0")


def _film_squares(path: Path, function: CmpFunc) -> None:
    """A square that fills the target, and with a depth test a nearer one of 40 x 40 pixels."""
    filming = load_tool("filming")
    with CaptureWriter(str(path)) as capture:
        device = filming.Studio(capture, "instant").device(64, 64)
        model = filming.Model()
        model.add(filming.box(0, 0, 64, 64, 0.75, 0xFF402020))
        model.add(filming.box(10, 10, 50, 50, 0.5, 0xFF20C040))
        model.bind(device)
        device.begin_scene()
        device.clear(color=0xFF102030)
        model.draw(device, 0)
        device.set_render_state(RenderState.ZFUNC, function)
        model.draw(device, 1)
        device.end_scene()
        filming.finish(device, [])


@pytest.fixture(scope="module")
def failing_depth(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The model of a capture whose second draw fails the depth test, beside one that passes it.

    A green square of 40 x 40 pixels is missing: more pixels differ than have a history.
    """
    folder = tmp_path_factory.mktemp("depth")
    for name, function in (("wrong", CmpFunc.GREATER), ("right", CmpFunc.LESSEQUAL)):
        _film_squares(folder / f"{name}.dp2", function)
    with (
        opened(folder / "right.dp2") as right,
        pictures_of(right) as references,
        opened(folder / "wrong.dp2") as wrong,
    ):
        return report_model(wrong, against=references)


def _click(page: Any, x: int, y: int) -> None:
    """Click a pixel of this replay's picture under Differences."""
    page.wait_for_function("document.querySelector('.trio canvas').width === 64")
    bounds = page.locator(".trio canvas").first.bounding_box()
    scale = bounds["width"] / 64
    page.mouse.click(bounds["x"] + (x + 0.5) * scale, bounds["y"] + (y + 0.5) * scale)


def _without_history(model: dict[str, Any]) -> tuple[int, int]:
    told = next(iter(model["histories"].values()))
    spots = ((x, y) for y in range(20, 40) for x in range(20, 40))
    return next((x, y) for x, y in spots if f"{x},{y}" not in told)


def test_a_differing_pixel_leads_to_the_draw_that_lost_at_the_nearest_history(
    visit: Any, failing_depth: dict[str, Any]
) -> None:
    lost = max(event["number"] for event in failing_depth["events"] if event["kind"] == "draw")
    x, y = _without_history(failing_depth)
    shown = visit(failing_depth)
    shown.settled(".compare .pixel", "Follow its history")
    _click(shown.page, x, y)
    shown.settled(".compare .pixel", f"Pixel {x}, {y}")
    shown.settled(".compare .pixel", "history of the nearest pixel that has one: ")
    shown.page.click("text=Follow its history")
    shown.settled("#pixel", "all fragments")
    assert shown.page.locator(".item[aria-selected=true] .no").inner_text() == f"E{lost}"
    assert "depth: 0.5 GREATER 0.75 fails" in shown.text("#pixel tr.here")
    near = shown.text("#pixel h2").removeprefix("Pixel ").replace(", ", ",")
    assert near in next(iter(failing_depth["histories"].values()))


def test_a_resolved_pixel_that_differs_leads_to_the_draw_in_the_source(
    visit: Any, resolved: dict[str, Any]
) -> None:
    draw = max(event["number"] for event in resolved["events"] if event["kind"] == "draw")
    shown = visit(resolved)
    shown.settled(".compare .pixel", "Follow its history")
    shown.page.click("text=Follow its history")
    shown.settled("#pixel", "surface 3")
    assert shown.page.locator(".item[aria-selected=true] .no").inner_text() == f"E{draw}"
    assert "written" in shown.text("#pixel tr.here >> nth=-1")


def test_a_pixel_of_an_earlier_picture_leads_to_the_draw_before_it(
    visit: Any, resolved_first: dict[str, Any]
) -> None:
    draws = [each["number"] for each in resolved_first["events"] if each["kind"] == "draw"]
    shown_at = resolved_first["differences"][0]["event"]
    assert draws[0] < shown_at < draws[1]
    shown = visit(resolved_first)
    shown.settled(".compare .pixel", "Follow its history")
    shown.page.click("text=Follow its history")
    shown.settled("#pixel", "surface 3")
    assert shown.page.locator(".item[aria-selected=true] .no").inner_text() == f"E{draws[0]}"


def _cleared_and_drawn(path: Path, calls: Calls) -> None:
    """A draw, a clear, and ``calls``, before a picture of the target is compared."""
    program = Program()
    target = program.device.create_texture2d(RGBA8, (SIZE, SIZE), int(BindFlag.RENDER_TARGET))
    program.draws(target)
    program.clear(program.target(target), 0, 0, 1, 1)
    calls(program)
    program.shows(7, target)
    path.write_bytes(sealed(*program.records))


@pytest.mark.parametrize(("calls", "kind", "told"), [
    (call("Draw", 2, 0), "draw", "does nothing there are too few vertices for a primitive"),
    (call("Flush"), "clear", "written"),
], ids=["idle draw", "clear"])  # fmt: skip
def test_a_pixel_leads_to_the_clear_or_to_the_draw_behind_it_that_did_nothing(
    calls: Calls, kind: str, told: str, visit: Any, tmp_path: Path
) -> None:
    for name, made in (("wrong", calls), ("right", call("Draw", 4, 0))):
        _cleared_and_drawn(tmp_path / f"{name}.dp2", made)
    with (
        opened(tmp_path / "right.dp2") as right,
        pictures_of(right) as references,
        opened(tmp_path / "wrong.dp2") as wrong,
    ):
        model = report_model(wrong, against=references)
    event = [each for each in model["events"] if each["kind"] == kind][-1]
    shown = visit(model)
    shown.settled(".compare .pixel", "Follow its history")
    shown.page.click("text=Follow its history")
    shown.settled("#pixel", "all fragments")
    chosen = shown.page.locator(".item[aria-selected=true]")
    assert chosen.locator(".no").inner_text() == f"E{event['number']}"
    assert told in " ".join(shown.text("#pixel tr.here").split())
    assert chosen.locator("b").inner_text() == event["name"]
    assert event["reason"] in shown.text("#facts dl")


def test_a_draw_has_arguments_and_a_query_its_number_in_the_list(
    visit: Any, first_light: dict[str, Any]
) -> None:
    shown = visit(first_light, "#view=frame&e=3")
    shown.settled("#facts dl", "primType=D3DPT_TRIANGLELIST VStart=6 PrimitiveCount=1")
    begins = [each for each in first_light["events"] if each["kind"] == "query_begin"]
    assert begins
    for event in begins:
        row = shown.page.locator(f"#event-{event['number']}")
        what = " ".join(row.locator(".what").inner_text().split())
        assert what == f"{event['name']} begin {event['query']}"


def test_the_first_draw_shows_its_whole_state_with_creators(
    visit: Any, resolved: dict[str, Any]
) -> None:
    draw = min(each["number"] for each in resolved["events"] if each["kind"] == "draw")
    shown = visit(resolved, f"#view=frame&e={draw}&tab=state")
    shown.settled("#facts h2", "State at the first draw")
    row = " ".join(shown.text("#facts tr:has-text('rasterizer state')").split())
    assert "created by" in row and "CreateRasterizerState" in row


def test_a_query_shows_the_account_that_why_prints(
    visit: Any, first_light: dict[str, Any]
) -> None:
    page = visit(first_light, "#view=queries").page
    told = first_light["queries"][0]["told"]
    account = page.locator(".account").first
    account.locator("summary").click()
    assert account.locator(".mono div").all_inner_texts() == told != []


def test_a_resolve_links_the_pixel_that_it_read(visit: Any, resolved: dict[str, Any]) -> None:
    resolves = [event["number"] for event in resolved["events"] if event["kind"] == "resolve"]
    place = f"#view=frame&e={resolves[1]}&target=2/color&pixel="
    for pixel in ("400,300", "10,10"):
        shown = visit(resolved, place + pixel)
        shown.settled("#pixel tr.here", "from surface 3")
        assert "surface 3" in shown.text("#facts dl")
        shown.page.click("#pixel tr.here .link >> nth=-1")
        shown.settled("#pixel header", "surface 3")
        shown.settled("#pixel h2", pixel.replace(",", ", "))
    shown.settled("#pixel", f"--target 3 --at E{resolves[1]}")


def test_the_picture_stays_where_it_is_when_a_pixel_is_clicked(
    visit: Any, first_light: dict[str, Any]
) -> None:
    shown = visit(first_light, "#view=frame&e=15")
    canvas = shown.page.locator(".easel canvas").first
    shown.settled("#pixel", "Click a pixel")
    before = canvas.bounding_box()
    shown.page.mouse.click(before["x"] + 100, before["y"] + 100)
    shown.settled("#pixel tbody", "DRAWPRIMITIVE")
    assert canvas.bounding_box() == before


def test_heads_of_a_history_stay_in_view(visit: Any, resolved: dict[str, Any]) -> None:
    shown = visit(resolved, "#view=frame&e=21&target=3/color&pixel=400,300")
    shown.settled("#pixel tr.here", "E21")
    past = shown.page.locator("#pixel .past")
    assert past.evaluate("(box) => box.scrollTop") > 0
    head, box = shown.page.locator("#pixel th").first.bounding_box(), past.bounding_box()
    assert head["y"] == pytest.approx(box["y"], abs=1)
    assert shown.page.locator("#pixel h2").bounding_box()["y"] < box["y"]


def test_state_of_a_draw_tells_what_changed_since_the_draw_before_and_what_set_it(
    visit: Any, failing_depth: dict[str, Any]
) -> None:
    draws = [event["number"] for event in failing_depth["events"] if event["kind"] == "draw"]
    shown = visit(failing_depth, f"#view=frame&e={draws[1]}&tab=state")
    shown.settled("#facts h2", f"since the previous draw E{draws[0]}")
    row = shown.text("#facts tr:has-text('D3DRS_ZFUNC')")
    assert "4 D3DCMP_LESSEQUAL → 5 D3DCMP_GREATER" in " ".join(row.split())
    assert "RENDERSTATE" in row.split()[-1]


def test_back_from_a_history_returns_to_the_difference(
    visit: Any, failing_depth: dict[str, Any]
) -> None:
    shown = visit(failing_depth)
    page = shown.page
    shown.settled(".compare .pixel", "Follow its history")
    _click(page, 30, 31)
    shown.settled(".compare .pixel", "Pixel 30, 31")
    page.click("text=Follow its history")
    shown.settled("#pixel", "all fragments")
    page.go_back()
    shown.settled(".compare .pixel", "Pixel 30, 31")
    assert page.locator("#view-differences").get_attribute("aria-selected") == "true"
    page.go_back()
    x, y = failing_depth["differences"][0]["first"]
    shown.settled(".compare .pixel", f"Pixel {x}, {y}")
    assert page.evaluate("location.hash") == ""


def test_keys_and_film_strip_reach_a_draw_that_passed_no_pixel(
    visit: Any, failing_depth: dict[str, Any]
) -> None:
    kinds = {event["number"]: event["kind"] for event in failing_depth["events"]}
    lost = max(number for number, kind in kinds.items() if kind == "draw")
    told = failing_depth["histories"]["2/color"]
    pixel = next(iter(told))
    shown = visit(failing_depth, f"#view=frame&e=0&target=2/color&pixel={pixel}")
    page = shown.page
    numbers = sorted({row["event"] for row in told[pixel]})
    assert lost in numbers
    for number in numbers:
        page.keyboard.press("n")
        page.wait_for_selector(f"#event-{number}[aria-selected=true]")
    page.click(f".strip .shot:has-text('E{lost} · 0 px')")
    page.wait_for_selector(f"#event-{lost}[aria-selected=true]")


def test_the_reason_of_a_lost_fragment_is_in_the_window(
    visit: Any, failing_depth: dict[str, Any]
) -> None:
    lost = max(event["number"] for event in failing_depth["events"] if event["kind"] == "draw")
    pixel = next(iter(failing_depth["histories"]["2/color"]))
    shown = visit(failing_depth, f"#view=frame&e={lost}&target=2/color&pixel={pixel}")
    shown.page.set_viewport_size({"width": 1400, "height": 900})
    shown.settled("#pixel", "GREATER 0.75 fails")
    wide = shown.page.evaluate(
        "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])"
        "(document.querySelector('#pixel .wide'))"
    )
    assert wide[0] <= wide[1]


def _zlib_base64(data: bytes) -> str:
    import base64
    import zlib

    return base64.b64encode(zlib.compress(data)).decode()


_TITLES = """async (numbers) => {
  const titles = [];
  for (const number of numbers) {
    location.hash = `view=frame&e=${number}`;
    await new Promise((then) => addEventListener("hashchange", then, { once: true }));
    titles.push(document.querySelector("#facts h2").textContent);
  }
  return titles;
}"""
"""The titles of events, each chosen by its address."""


def test_hostile_names_stay_inert(visit: Any, hostile_capture: Path) -> None:
    with opened(hostile_capture) as capture:
        model = report_model(capture, file=str(hostile_capture))
    page = visit(model).page
    numbers = [event["number"] for event in model["events"]]
    titles = page.evaluate(_TITLES, numbers)
    names = [event["name"] for event in model["events"]]
    assert titles == names
    assert len(set(names)) >= len(HOSTILE)
    for view in ("queries", "shaders", "textures", "statistics"):
        page.evaluate("(view) => { location.hash = `view=${view}`; }", view)
    page.emulate_media(media="print")
    page.wait_for_selector("#print table")
    page.emulate_media(media="screen")
    for text in ("onerror", "<script>", "__proto__", "constructor"):
        page.fill("#search", text)
        assert page.locator("#found .hit").count()
    assert page.evaluate("typeof window.hacked") == "undefined"
    elements = (
        "document.querySelectorAll('svg, iframe, object, form, base, link, template').length"
    )
    assert page.evaluate(elements) == 0
    assert page.evaluate("document.querySelectorAll('script').length") == 2
