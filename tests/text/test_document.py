"""docs/text.rst: its example is a capture, and it names every statement."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from textwrap import dedent

from dp2emu.capture.records import Called, ContextCreated, SurfaceCreated
from dp2emu.dp2.driver import Driver
from dp2emu.text import TextCapture
from dp2emu.text.forms import FORMS

DOCUMENT = (Path(__file__).parents[2] / "docs" / "text.rst").read_text("utf-8")


def example() -> str:
    found = re.search(r"^\.\. code:: text\n\n((?:    .*\n|\n)+)", DOCUMENT, re.MULTILINE)
    assert found
    return dedent(found[1])


def test_the_example_draws_what_it_says() -> None:
    driver = Driver()
    for record in TextCapture(StringIO(example())).records():
        if isinstance(record, SurfaceCreated):
            driver.create_surface(record.desc)
        elif isinstance(record, ContextCreated):
            driver.create_context(record.context, color=record.color)
        elif isinstance(record, Called):
            answer = driver.submit(record.call)
            assert (answer.ddrval, len(answer.response)) == (0, 20)
            assert 780 <= int.from_bytes(answer.response[16:], "little") <= 820


def test_every_statement_is_named() -> None:
    assert [form.keyword for form in FORMS if f"``{form.keyword}``" not in DOCUMENT] == []
