"""Objects on disk: whole or missing, bounded, shared."""

from __future__ import annotations

import errno
import os
import tempfile
from multiprocessing import get_context
from pathlib import Path

import platformdirs
import pytest

from dp2emu.shader.jit.object_cache import ObjectCache, object_cache

CODE = bytes(range(256)) * 4


def paths(store: ObjectCache) -> list[Path]:
    return sorted(store.folder.iterdir())


def sizes(store: ObjectCache) -> int:
    return sum(path.stat().st_size for path in paths(store))


def used(store: ObjectCache, key: str, when: int) -> None:
    """Say when an object was last used."""
    os.utime(store.folder / f"{key}.object", (when, when))


def test_what_was_put_is_got(tmp_path: Path) -> None:
    store = ObjectCache(tmp_path / "deep" / "folder")
    assert store.get("a") is None
    store.put("a", CODE)
    store.put("b", b"")
    store.put("a", CODE[::-1])
    assert (store.get("a"), store.get("b"), store.get("c")) == (CODE[::-1], b"", None)
    assert len(paths(store)) == 2


@pytest.mark.parametrize("place", [0, 31, 32, 500, -1])
def test_an_object_with_a_changed_byte_is_missing(tmp_path: Path, place: int) -> None:
    store = ObjectCache(tmp_path)
    store.put("a", CODE)
    held = bytearray(paths(store)[0].read_bytes())
    held[place] ^= 1
    paths(store)[0].write_bytes(held)
    assert store.get("a") is None
    store.put("a", CODE)
    assert store.get("a") == CODE


@pytest.mark.parametrize("size", [0, 7, 32, 100])
def test_an_object_cut_short_is_missing(tmp_path: Path, size: int) -> None:
    store = ObjectCache(tmp_path)
    store.put("a", CODE)
    paths(store)[0].write_bytes(paths(store)[0].read_bytes()[:size])
    assert store.get("a") is None


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    store = ObjectCache(tmp_path, limit=4000)
    for when, key in enumerate("abc", 1000):
        store.put(key, CODE)
        used(store, key, when)
    assert store.get("a") == CODE
    store.put("d", CODE)
    assert [store.get(key) is not None for key in "abcd"] == [True, False, True, True]
    assert sizes(store) <= store.limit


def test_the_folder_is_looked_at_only_now_and_then(tmp_path: Path) -> None:
    """What comes in between may stand over the limit by a little."""
    store = ObjectCache(tmp_path, limit=64_000, unseen=0)
    (tmp_path / "old").write_bytes(bytes(70_000))
    os.utime(tmp_path / "old", (1, 1))
    store.put("a", CODE[:500])
    assert len(paths(store)) == 2
    store.put("b", CODE[:500])
    assert [path.name for path in paths(store)] == ["a.object", "b.object"]


def test_processes_that_write_little_each_look_as_often_as_one_that_writes_it_all(
    tmp_path: Path,
) -> None:
    looks = 0
    for number in range(200):
        (tmp_path / "old").write_bytes(bytes(70_000))
        os.utime(tmp_path / "old", (1, 1))
        ObjectCache(tmp_path, limit=64_000).put(f"{number}", CODE[:168])
        looks += not (tmp_path / "old").exists()
    assert 20 < looks < 60


def test_nothing_is_kept_that_is_larger_than_all_may_be(tmp_path: Path) -> None:
    store = ObjectCache(tmp_path, limit=1000)
    store.put("small", CODE[:500])
    store.put("large", CODE)
    assert (store.get("small"), store.get("large")) == (CODE[:500], None)


def test_what_others_left_half_written_counts_and_goes(tmp_path: Path) -> None:
    store = ObjectCache(tmp_path, limit=4000)
    (tmp_path / "tmpabc").write_bytes(bytes(3500))
    os.utime(tmp_path / "tmpabc", (1, 1))
    store.put("a", CODE)
    assert [path.name for path in paths(store)] == ["a.object"]


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = ObjectCache(tmp_path / "file" / "folder")
    store.put("a", CODE)
    assert store.get("a") is None


def _work(folder: Path, seed: int) -> bool:
    """Put and get what other processes put and get; whether all that was found was right."""
    store, right = ObjectCache(folder, limit=12_000), True
    for turn in range(60):
        number = (turn * 7 + seed) % 13
        code = bytes([number]) * 1000
        store.put(f"k{number}", code)
        found = store.get(f"k{(number + 3) % 13}")
        right &= found is None or found == bytes([(number + 3) % 13]) * 1000
    return right


def test_processes_may_share_a_folder(tmp_path: Path) -> None:
    with get_context("spawn").Pool(3) as pool:
        assert all(pool.starmap(_work, [(tmp_path, seed) for seed in range(3)]))
    assert sizes(ObjectCache(tmp_path)) <= 12_000
    assert all(path.suffix == ".object" for path in tmp_path.iterdir())


def test_an_object_under_the_name_of_another_is_missing(tmp_path: Path) -> None:
    store = ObjectCache(tmp_path)
    store.put("a", CODE)
    os.replace(tmp_path / "a.object", tmp_path / "b.object")
    assert store.get("b") is None


class TestOthers:
    """Objects are run, so nobody else may have written them."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> ObjectCache:
        store = ObjectCache(tmp_path / "objects")
        store.put("a", CODE)
        assert store.get("a") == CODE
        return store

    def test_a_folder_is_made_for_its_owner_alone(self, store: ObjectCache) -> None:
        assert store.folder.stat().st_mode & 0o777 == 0o700

    @pytest.mark.parametrize("mode", [0o720, 0o702])
    def test_a_folder_that_others_may_write_to_is_not_read(
        self, store: ObjectCache, mode: int
    ) -> None:
        store.folder.chmod(mode)
        assert store.get("a") is None

    def test_a_folder_that_others_may_write_to_is_not_written(self, store: ObjectCache) -> None:
        store.folder.chmod(0o702)
        store.put("b", CODE)
        assert [path.name for path in paths(store)] == ["a.object"]

    @pytest.mark.parametrize("mode", [0o620, 0o602])
    def test_an_object_that_others_may_write_to_is_missing(
        self, store: ObjectCache, mode: int
    ) -> None:
        (store.folder / "a.object").chmod(mode)
        assert store.get("a") is None
        store.put("a", CODE)
        assert store.get("a") == CODE

    def test_objects_of_another_user_are_missing(
        self, store: ObjectCache, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: other)
        assert store.get("a") is None

    def test_what_is_no_file_is_missing(self, store: ObjectCache) -> None:
        os.mkfifo(store.folder / "pipe.object")
        (store.folder / "folder.object").mkdir()
        assert (store.get("pipe"), store.get("folder")) == (None, None)


@pytest.mark.parametrize("call", ["mkstemp", "fdopen", "replace"])
def test_a_full_or_read_only_disk_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    store = ObjectCache(tmp_path)
    monkeypatch.setattr(tempfile if call == "mkstemp" else os, call, fails)
    store.put("a", CODE)
    assert store.get("a") is None
    assert paths(store) == []


@pytest.mark.parametrize(("home", "keeps"), [("home", True), ("~", False)])
def test_nothing_is_kept_for_a_user_without_a_home(
    home: str, keeps: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path(home) if home.startswith("~") else tmp_path / home
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name, appauthor: folder)
    store = object_cache.__wrapped__()
    store.put("a", CODE)
    assert (store.get("a") == CODE) is keeps is bool(list(tmp_path.iterdir()))
