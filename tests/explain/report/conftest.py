"""Reports of example captures, and pages of them in a real Chromium without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dp2emu.capture.records import MARKER, MARKER_BEGIN, MARKER_END, Annotation, Called
from dp2emu.capture.writer import CaptureWriter
from dp2emu.diff import Allowance, References
from dp2emu.diff.images import read_image
from dp2emu.explain.report.differences import pictures_of
from dp2emu.explain.report.model import report_model
from dp2emu.explain.report.page import page_of
from dp2emu.picture import encode_png
from tests.explain.opening import FIRST_LIGHT, REAL, opened

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg onload=window.hacked=1>",
    '"><img src=x onerror=window.hacked=1>',
    "' onmouseover='window.hacked=1",
    "<iframe src=javascript:parent.hacked=1>",
    "<a href=javascript:window.hacked=1>click</a>",
    "<style>*{display:none}</style>",
    "</style><style>body{display:none}</style>",
    "<!-- <script>",
    "--><script>window.hacked=1</script>",
    "<![CDATA[<script>window.hacked=1</script>]]>",
    "{{ 7 * 7 }}",
    "{% for x in y %}",
    "${window.hacked = 1}",
    "`${window.hacked = 1}`",
    "\\u003cscript\\u003ewindow.hacked=1",
    "&lt;b&gt; &amp; &#60;script&#62;",
    "javascript:window.hacked=1",
    "data:text/html,<script>hacked=1</script>",
    "<base href=http://example.invalid/>",
    "<meta http-equiv=refresh content=0;url=http://example.invalid/>",
    "<form action=http://example.invalid/><input name=x></form>",
    "<object data=http://example.invalid/></object>",
    "<link rel=stylesheet href=http://example.invalid/x.css>",
    "<template><script>window.hacked=1</script></template>",
    "<math><mtext><script>window.hacked=1</script>",
    "__proto__",
    "constructor",
    "toString",
    "'; window.hacked = 1; //",
    '"; window.hacked = 1; //',
    "'; rm -rf ~; echo '",
    "$(touch hacked)",
    "line\nbreak\ttab",
    "\x1b[31mred\x1b[0m \x07",
    "\u202eright to left\u202c",
    "\u2028separator\u2029",
    "x" * 3000,
]
"""Names that become code, structure or commands where they are not escaped."""


@pytest.fixture(scope="session")
def first_light() -> dict[str, Any]:
    """The model of first_light.dp2, with the history of pixel 186, 121."""
    with opened(FIRST_LIGHT) as capture:
        return report_model(capture, file="streams/first_light.dp2", pixels=[(186, 121)])


@pytest.fixture(scope="session")
def resolved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The model of sokol_texcube.trace, whose last picture differs in a box of 3 x 2 pixels.

    Its draws go to the multisampled surface 3, which is resolved to the shown surface 2.
    """
    return differing_at(-1, tmp_path_factory.mktemp("resolved"))


@pytest.fixture(scope="session")
def resolved_first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The same if its first picture differs."""
    return differing_at(0, tmp_path_factory.mktemp("resolved_first"))


def differing_at(number: int, folder: Path) -> dict[str, Any]:
    """The model of sokol_texcube.trace, compared with a picture of it that differs."""
    trace = next(path for path in REAL if path.stem == "sokol_texcube")
    with opened(trace) as capture, pictures_of(capture) as references:
        path = sorted(references.folder.glob("*.png"))[number]
        image = read_image(path).copy()
    image[300:302, 400:403] ^= 255
    (folder / path.name).write_bytes(encode_png(image))
    with opened(trace) as capture:
        return report_model(capture, against=References(folder), allowance=Allowance(4))


@pytest.fixture(scope="session")
def hostile_capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """first_light.dp2 with hostile markers and surface labels, and a hostile file name."""
    path = tmp_path_factory.mktemp("hostile") / "<img src=x onerror=hacked=1>'.dp2"
    with opened(FIRST_LIGHT) as capture, CaptureWriter(str(path)) as writer:
        for record in capture.records():
            if isinstance(record, Called):
                for name in HOSTILE:
                    writer.write(Annotation(MARKER, name))
                writer.write(Annotation(MARKER_BEGIN, HOSTILE[0]))
            writer.write(record)
            if isinstance(record, Called):
                writer.write(Annotation(MARKER_END, ""))
        for number, name in enumerate(HOSTILE):
            writer.write(Annotation(f"label.surface.{number}", name))
    return path


class Opened:
    """A page in Chromium, with what it wrote to the console.  Mutable: it is used."""

    def __init__(self, browser: Any, file: Path, place: str = "", scheme: str = "light") -> None:
        self.context = browser.new_context(
            offline=True, color_scheme=scheme, viewport={"width": 1280, "height": 800}
        )
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(dialog.message))
        self.page.on("request", self._requested)
        self.page.goto(f"{file.as_uri()}{place}")
        self.page.wait_for_function("document.documentElement.dataset.ready === 'true'")

    def _requested(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            self.errors.append(f"requests {request.url}")

    def text(self, selector: str) -> str:
        """The visible text of an element."""
        return str(self.page.inner_text(selector))

    def settled(self, selector: str, words: str) -> None:
        """Wait until an element has a text."""
        self.page.wait_for_function(
            "([selector, words]) => document.querySelector(selector)?.innerText.includes(words)",
            arg=[selector, words],
        )


@pytest.fixture
def visit(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """A function that opens the page of a model; it must write nothing to the console."""
    pages: list[Opened] = []

    def opening(model: dict[str, Any], place: str = "", scheme: str = "light") -> Opened:
        file = tmp_path / "report.html"
        file.write_text(page_of(model), "utf-8")
        pages.append(Opened(chromium, file, place, scheme))
        return pages[-1]

    yield opening
    for page in pages:
        page.context.close()
        assert not page.errors
