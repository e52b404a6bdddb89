"""docs/departures.rst: what it shows is what is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from .comparing import HERE
from .listed import DEPARTURES
from .playing import played

DOCS = HERE.parents[1] / "docs"
TEXT = (DOCS / "departures.rst").read_text("utf-8")


@pytest.mark.parametrize("name", DEPARTURES)
def test_a_departure_is_explained_with_its_picture(name: str, tmp_path: Path) -> None:
    shown = f"departures/{Path(name).name}.png"
    assert f"\n{name}\n{'-' * len(name)}\n\n.. image:: {shown}\n" in TEXT
    played(HERE / "scenes" / f"{name}.json", tmp_path)
    with Image.open(DOCS / shown) as document, Image.open(tmp_path / f"{name}.png") as drawn:
        assert (np.asarray(document) == np.asarray(drawn)).all()


def test_only_departures_are_explained() -> None:
    assert TEXT.count(".. image:: ") == len(DEPARTURES)
