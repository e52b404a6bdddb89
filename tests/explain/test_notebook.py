"""HTML of events, states and pictures in notebooks."""

from __future__ import annotations

from html.parser import HTMLParser

from dp2emu.explain.events import Event, EventKind, Origin
from dp2emu.explain.notebook import ROWS, EventTable, StateTable
from dp2emu.explain.playback import Observer, Stage, events_of, play
from dp2emu.gpu.command.packets import Packet
from dp2emu.picture import Picture, take_picture
from tests.explain.opening import FIRST_LIGHT, opened
from tests.test_junit import HOSTILE


class _Page(HTMLParser):
    """The elements and texts of a page.  Mutable: it is fed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.sources: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.sources += [value or "" for name, value in attrs if name == "src"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_events_are_a_table_with_the_columns_that_have_values() -> None:
    with opened(FIRST_LIGHT) as capture:
        table = EventTable(events_of(capture))
    page = _Page(table._repr_html_())
    assert page.tags == {"table", "tr", "th", "td"}
    assert page.texts[:5] == ["event", "frame", "place", "kind", "name"]
    assert "markers" not in page.texts and "DRAWPRIMITIVE" in page.texts
    assert (len(table), table[1].name, len(table[1:3])) == (16, "CLEAR", 2)


def test_a_state_is_a_table_of_paths() -> None:
    state = StateTable({"a": {"b": [1, 2]}, "c": [{"d": None}]})
    page = _Page(state._repr_html_())
    assert page.texts == ["a.b", "[1, 2]", "c[0].d", "None"]
    assert dict(state) == {"a": {"b": [1, 2]}, "c": [{"d": None}]}


def test_a_picture_is_its_png() -> None:
    taken: list[Picture] = []

    class Last(Observer):
        def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
            taken.append(take_picture(stage.surface(2)))

    with opened(FIRST_LIGHT) as capture:
        play(capture, [Last()])
    (source,) = _Page(taken[-1]._repr_html_()).sources
    assert source.startswith("data:image/png;base64,iVBORw0KGgo")


def test_long_tables_are_cut() -> None:
    events = [Event(number, EventKind.MARKER, Origin("a")) for number in range(ROWS + 5)]
    page = EventTable(events)._repr_html_()
    assert page.endswith("<p>and 5 more</p>") and f"E{ROWS}" not in page


def test_hostile_names_stay_text() -> None:
    for text in HOSTILE:
        event = Event(0, EventKind.MARKER, Origin(text), text=text)
        pages = EventTable([event])._repr_html_(), StateTable({text: text})._repr_html_()
        for page in pages:
            assert _Page(page).tags <= {"table", "tr", "th", "td"}
            assert page.isprintable() and len(page) < 2000
