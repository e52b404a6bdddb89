"""Pictures after events, and the film strip of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from dp2emu.capture.records import MemoryWritten
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.explain.address import parse_address
from dp2emu.explain.film import Film, FilmCamera
from dp2emu.explain.playback import play
from dp2emu.replay import Frames, Pictures, Watcher, replay
from tests.explain.opening import FIRST_LIGHT, opened
from tests.replay.authoring import SETTING, called, capture_of, clear


def filmed(film: Film) -> FilmCamera:
    camera = FilmCamera(film)
    with opened(FIRST_LIGHT) as capture:
        play(capture, [camera])
    camera.close()
    return camera


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_each_draw_is_pictured_with_depth_and_stencil(tmp_path: Path) -> None:
    camera = filmed(Film(tmp_path, draws=True))
    draws = [event for event in camera.events if event.kind == "draw"]
    assert camera.pictures == 3 * len(draws) == 30
    assert names(tmp_path)[:3] == [
        "event000002_surface2.png", "event000002_surface3_depth.png",
        "event000002_surface3_stencil.png",
    ]  # fmt: skip


def test_the_picture_after_the_last_draw_is_that_of_a_replay(tmp_path: Path) -> None:
    filmed(Film(tmp_path / "film", draws=True))
    with opened(FIRST_LIGHT) as capture:
        replay(capture, pictures=Pictures(tmp_path / "replay"))
    last = names(tmp_path / "film")[-3]
    (picture,) = names(tmp_path / "replay")
    one, other = tmp_path / "film" / last, tmp_path / "replay" / picture
    assert one.read_bytes() == other.read_bytes()


def test_pictures_after_an_event_show_what_it_left(tmp_path: Path) -> None:
    capture = capture_of(*SETTING, called(clear(0x112233), clear(0x445566)))
    camera = FilmCamera(Film(tmp_path, at=parse_address("0:0")))
    play(capture, [camera])
    camera.close()
    assert names(tmp_path) == ["event000000_surface2.png"]
    with Image.open(tmp_path / "event000000_surface2.png") as image:
        assert image.getpixel((3, 1)) == (0x11, 0x22, 0x33)


def test_every_nth_event_of_chosen_frames_is_pictured(tmp_path: Path) -> None:
    filmed(Film(tmp_path / "a", every=4))
    numbers = {name[5:11] for name in names(tmp_path / "a")}
    assert numbers <= {"000000", "000004", "000008", "000012"} and len(numbers) >= 3
    assert filmed(Film(tmp_path / "b", every=4, frames=Frames(7))).pictures == 0


def test_an_event_without_a_picture_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"E0: write \(MemoryWritten\) writes nothing that has"):
        filmed(Film(tmp_path, at=parse_address("E0")))


def test_a_strip_has_a_thumbnail_of_each_picture(tmp_path: Path) -> None:
    filmed(Film(strip=tmp_path / "new" / "strip.png", draws=True))
    with Image.open(tmp_path / "new" / "strip.png") as strip:
        assert strip.width > 5 * 160 and strip.height > 4 * 120
    assert names(tmp_path / "new") == ["strip.png"]


def test_a_write_to_a_surface_that_does_not_exist_is_a_fault(tmp_path: Path) -> None:
    faults: list[Dp2Error] = []
    camera = FilmCamera(Film(tmp_path, every=1))
    records = [*SETTING, called(clear(1)), MemoryWritten(77, 0, b"abcd"), called(clear(2))]
    play(capture_of(*records), [camera], watcher=Watcher(fault=faults.append))
    camera.close()
    assert [each.kind for each in camera.events] == ["clear", "write", "clear"]
    assert camera.pictures == 2 and "77" in str(faults[0])
