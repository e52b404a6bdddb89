"""Objects as images: what is one, and that it runs as LLVM's linker would have it."""

from __future__ import annotations

import ctypes
import gc
import re
import struct
from itertools import pairwise
from pathlib import Path

import pytest

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.jit import code, code_images
from dp2emu.shader.jit.batches import batch_module
from dp2emu.shader.jit.code import CodeSource, body_source
from dp2emu.shader.jit.code_images import LoadedImage, image_of, images_supported, is_image
from dp2emu.shader.jit.compiling import host
from dp2emu.shader.jit.machine import target
from dp2emu.shader.jit.object_cache import ObjectCache
from dp2emu.shader.types import Type

TABLE = """
@table = internal constant [4 x i32] [i32 3, i32 5, i32 7, i32 11], align 64
@word = internal constant i64 1000, align 8

define internal i32 @looked(i32 %x) noinline nounwind {
  %n = and i32 %x, 3
  %at = getelementptr [4 x i32], ptr @table, i32 0, i32 %n
  %found = load i32, ptr %at
  ret i32 %found
}

define i32 @f(i32 %x) nounwind {
  %found = call i32 @looked(i32 %x)
  %wide = load i64, ptr @word
  %word = trunc i64 %wide to i32
  %y = add i32 %found, %word
  ret i32 %y
}
"""
INTEGER = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)
REL, RELA, R_64 = 9, 4, 1


def image(text: str, name: str = "f") -> bytes | None:
    return image_of(host().begin(text)(), name)


def test_an_image_finds_its_constants_and_functions() -> None:
    made = image(TABLE)
    assert (made is not None) is images_supported()
    for found in [made] if made else []:
        running = LoadedImage(found)
        assert [INTEGER(running.address)(x) for x in range(5)] == [1003, 1005, 1007, 1011, 1003]


def test_images_run_wherever_they_lie() -> None:
    made = image(TABLE)
    several = [LoadedImage(made) for _ in range(9)] if made else []
    places = sorted(each.address for each in several)
    assert all(second - first >= 4096 for first, second in pairwise(places))
    assert all(INTEGER(each.address)(1) == 1005 for each in several)


def test_many_images_are_few_mappings() -> None:
    """Systems allow 65,530 of a process."""
    maps, made = Path("/proc/self/maps"), image(TABLE)
    if made is not None:
        before = len(maps.read_text().splitlines())
        several = [LoadedImage(made) for _ in range(64)]
        assert len(maps.read_text().splitlines()) < before + 32 < before + len(several)


def test_what_runs_is_there_as_long_as_somebody_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "object_cache", lambda: ObjectCache(tmp_path))
    made = CodeSource.of(TABLE, "f").good()
    function = INTEGER(made.address)
    function.code = made  # type: ignore[attr-defined]
    del made
    gc.collect()
    assert function(2) == 1007


_HEAD = "define i32 @f(i32 %x) nounwind {"
_LOAD = "%y = load i32, ptr @n\n"
_STORE = "store i32 %x, ptr @n\n"
OTHERS = {
    "function": f"declare i32 @abs(i32)\n{_HEAD}%y = call i32 @abs(i32 %x)\nret i32 %y }}",
    "data": f"@n = internal global i32 7\n{_HEAD}{_LOAD}{_STORE}ret i32 %y }}",
    "zeros": f"@n = internal global i32 0\n{_HEAD}{_LOAD}{_STORE}ret i32 %y }}",
    "elsewhere": f"@n = external global i32\n{_HEAD}{_LOAD}ret i32 %y }}",
    "name": "define i32 @g(i32 %x) nounwind { ret i32 %x }",
    "unwinding": "define i32 @f(i32 %x) { ret i32 %x }",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_what_refers_to_something_else_is_none(text: str) -> None:
    assert image(text) is None


def _patched(code: bytes, at: int, form: str, value: int) -> bytes:
    changed = bytearray(code)
    struct.pack_into(form, changed, at, value)
    return bytes(changed)


@pytest.mark.parametrize(
    ("at", "form", "value"), [(0, "<B", 0), (4, "<B", 1), (16, "<H", 3), (18, "<H", 183)]
)
def test_what_is_for_another_machine_is_none(at: int, form: str, value: int) -> None:
    made = host().begin(TABLE)()
    assert image_of(_patched(made, at, form, value), "f") is None


def _relocations(made: bytes) -> list[int]:
    """Where headers of sections of relocations are."""
    (start,) = struct.unpack_from("<Q", made, 40)
    size, count = struct.unpack_from("<HH", made, 58)
    headers = [start + size * n for n in range(count)]
    return [at for at in headers if struct.unpack_from("<I", made, at + 4) == (RELA,)]


def test_relocations_of_other_kinds_are_none_of_an_image() -> None:
    made = host().begin(TABLE)()
    for header in _relocations(made) if images_supported() else []:
        assert image_of(_patched(made, header + 4, "<I", REL), "f") is None
        (offset,) = struct.unpack_from("<Q", made, header + 24)
        assert image_of(_patched(made, offset + 8, "<I", R_64), "f") is None


def _program() -> Program:
    """Reads what it wrote to a file of its own, which begins as zeros."""
    b = Builder(Stage.PIXEL)
    file = b.local("f", Type.F32, 8)
    b.store(file, b.input("x"), 3)
    b.output("y", b.load(file, 3) + b.load(file, 2))
    return b.program()


def test_what_is_compiled_refers_to_nothing_else() -> None:
    texts = {"batches": batch_module(target())}
    texts["body"] = body_source(_program(), ("x",), target(), masked=True).write()
    for name, text in texts.items():
        made = image(text, name)
        assert (made is not None and is_image(made)) is images_supported()


def test_code_calls_no_library() -> None:
    root = Path(code.__file__).parents[2]
    paths = [path for name in ("shader", "gpu") for path in (root / name).rglob("*.py")]
    assert not [path for path in paths if re.search(r"llvm\.mem(set|cpy|move)", path.read_text())]


def test_where_written_memory_may_not_be_run_llvm_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "object_cache", lambda: ObjectCache(tmp_path))
    assert INTEGER(CodeSource.of(TABLE, "f").good().address)(0) == 1003
    monkeypatch.setattr(code, "images_supported", lambda: False)
    assert CodeSource.of(TABLE, "f").cached() is None or not images_supported()
    linked = CodeSource.of(TABLE, "f").good()
    assert INTEGER(linked.address)(3) == 1011
    (held,) = [path.read_bytes() for path in tmp_path.iterdir()]
    assert code_images._MAGIC not in held


def test_a_system_that_forbids_it_runs_no_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_images, "_protect", lambda: lambda *given: -1)
    with pytest.raises(OSError, match=r"^.*$"):
        LoadedImage(code_images._HEADER.pack(code_images._MAGIC, 0) + bytes(8))
    images_supported.cache_clear()
    assert not images_supported()
    monkeypatch.undo()
    images_supported.cache_clear()
    monkeypatch.setattr(code_images.platform, "machine", lambda: "riscv64")
    assert not images_supported()
    images_supported.cache_clear()
