"""The text of a page: what it may load, and that no name of a capture becomes a part of it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from dp2emu.explain.report.model import report_model
from dp2emu.explain.report.page import page_of, script_json
from tests.explain.opening import opened
from tests.explain.report.conftest import HOSTILE

PARTS = re.compile(r"<(script|style)([^>]*)>(.*?)</\1>", re.DOTALL)


def test_page_may_run_its_own_script_only(first_light: dict[str, Any]) -> None:
    page = page_of(first_light)
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none';")
    code = [(kind, text) for kind, about, text in PARTS.findall(page) if "json" not in about]
    assert [kind for kind, _ in code] == ["style", "script"]
    for kind, text in code:
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_page_names_no_address_outside_of_it(first_light: dict[str, Any]) -> None:
    assert not re.search(r"https?://|src=|@import|url\(", page_of(first_light))


def test_names_cannot_end_the_element_of_the_model() -> None:
    text = script_json(HOSTILE)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == HOSTILE


def test_page_of_a_hostile_capture_has_no_element_more(
    first_light: dict[str, Any], hostile_capture: Path
) -> None:
    with opened(hostile_capture) as capture:
        model = report_model(capture, file=str(hostile_capture))
    tags = [re.findall(r"<[a-z!/]+", page_of(each)) for each in (first_light, model)]
    assert tags[0] == tags[1]
