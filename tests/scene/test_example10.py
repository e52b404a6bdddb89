"""The example of a Direct3D 10 and 11 scene in the documents gives the result that they tell."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cli.running import dp2emu
from tests.tools.loading import ROOT

PAGE = ROOT / "docs" / "reference" / "scenes.rst"
BLOCK = re.compile(r"\.\. code-block:: json\n\n((?:    .*\n|\n)+)")


def test_the_example_has_the_result_of_the_page(tmp_path: Path) -> None:
    scene, wanted = BLOCK.findall(PAGE.read_text("utf-8"))
    (tmp_path / "levels.json").write_text(scene)
    out = tmp_path / "out"
    ran = dp2emu("scene", tmp_path / "levels.json", "--out", out)
    assert ran.code == 0, ran.err
    found = json.loads((out / "levels.json").read_text())
    assert found["textures"] == json.loads(wanted)
    pictures = {"levels.last.mip2.png", "levels.last.slice1.mip2.png"}
    assert pictures <= {path.name for path in out.iterdir()}
