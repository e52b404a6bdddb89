"""Surfaces as drivers of Windows NT and 9x have them: linked levels, memory that the driver
places and locks, any number of them, at addresses of the driver's choice.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from dp2emu.conform import Verdict, kit, run_kit
from dp2emu.d3d.ddraw import FACES
from dp2emu.d3d.enums import Format
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.rig.served import NativeDriver, PipeRig, Served
from tests.native.building import GCC, SAMPLE, library, linked_program, missing
from tests.rig.calls import A8R8G8B8, opened, submitted

HOOKS = ("CREATESURFACE", "DESTROYSURFACE", "LOCK", "UNLOCK")
HAS = tuple(f"-DDP2STUB_HAS_{hook}" for hook in HOOKS)
NINE = "-DDP2STUB_9X"
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


class Kind(NamedTuple):
    """How a driver is built and reached."""

    name: str
    options: tuple[str, ...] = ()
    pipe: bool = True


KINDS = (
    Kind("library", pipe=False),
    Kind("nt"),
    Kind("9x", (NINE, *SANITIZED)),
    Kind("9x-32", (NINE, "-m32")),
)


def program(name: str, kind: Kind, *sources: str, options: tuple[str, ...] = ()) -> Path:
    """A driver as a program that a pipe leads to; skips without a compiler for its word size."""
    bits = tuple(option for option in kind.options if option == "-m32")
    if lacks := missing((*GCC, *bits)):
        pytest.skip(f"{lacks} is missing")
    return linked_program(f"{name}-{kind.name}", ("dp2stub.c", *sources), *kind.options, *options)


def rig_of(source: str, kind: Kind, *options: str) -> Served:
    if not kind.pipe:
        return NativeDriver(library(source, f"{source}.c"))
    return PipeRig(str(program(source, kind, f"{source}.c", options=options)))


@pytest.fixture(params=KINDS, ids=[kind.name for kind in KINDS], scope="module")
def linked(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A driver that writes what the structures of surfaces say."""
    with rig_of("linked", request.param) as rig:
        yield rig


@pytest.fixture(params=KINDS, ids=[kind.name for kind in KINDS], scope="module")
def elsewhere(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A driver with pictures elsewhere, whose memory is rubbish unless it is locked."""
    with rig_of("elsewhere", request.param, *HAS) as rig:
        opened(rig)
        yield rig


def texture(handle: int, width: int, levels: int, **more: int) -> SurfaceDesc:
    kind = SurfaceKind(more.pop("kind", SurfaceKind.TEXTURE))
    return SurfaceDesc(handle, kind, width, width, A8R8G8B8, levels=levels, **more)


def words(rig: Served, handle: int, offset: int, count: int) -> tuple[int, ...]:
    return struct.unpack(f"<{count}I", rig.read(handle, offset, 4 * count))


def test_levels_are_surfaces_in_the_list_of_the_level_above(linked: Served) -> None:
    linked.create_surface(texture(20, 16, 5))
    offset, size = 0, 16
    for level in range(5):
        count = min(3, size)
        head, *rest = words(linked, 20, offset, count)
        assert head == size | size << 8 | 4 * size << 16 | (level < 4) << 24
        if rest:
            assert rest[0] == 4 * size * size
        if len(rest) > 1:
            assert rest[1] == (0x10000 if level else 0)
        offset, size = offset + 4 * size * size, size // 2
    linked.destroy_surface(20)


def test_faces_of_a_cube_are_in_the_list_of_the_first(linked: Served) -> None:
    linked.create_surface(texture(21, 16, 2, kind=int(SurfaceKind.CUBETEXTURE)))
    face_bytes = 4 * (16 * 16 + 8 * 8)
    for face in range(6):
        head, _, caps2 = words(linked, 21, face * face_bytes, 3)
        assert head >> 24 == (1 if face else 6)
        assert caps2 == 0x200 | (FACES[face] if face else 0xFC00)
        assert words(linked, 21, face * face_bytes + 1024, 1) == (8 | 8 << 8 | 32 << 16,)
    linked.destroy_surface(21)


def test_levels_of_blocks_of_texels_have_their_bytes_as_pitch(linked: Served) -> None:
    linked.create_surface(SurfaceDesc(22, SurfaceKind.TEXTURE, 16, 16, int(Format.DXT1), levels=3))
    assert [words(linked, 22, at, 1)[0] >> 16 & 0xFF for at in (0, 128, 160)] == [128, 32, 8]
    linked.destroy_surface(22)


def test_a_handle_of_a_level_names_the_surface_in_the_list(elsewhere: Served) -> None:
    elsewhere.create_surface(texture(30, 8, 4))
    elsewhere.create_surface(
        SurfaceDesc(31, SurfaceKind.SURFACE, 4, 4, A8R8G8B8, parent=30, index=1)
    )
    elsewhere.write(31, 20, b"level")
    assert elsewhere.read(30, 256 + 20, 5) == b"level"
    elsewhere.destroy_surface(30)
    assert elsewhere.read(31, 20, 5) == b"level"
    elsewhere.destroy_surface(31)
    with pytest.raises(Fault):
        elsewhere.read(31, 0, 1)


def test_memory_is_what_the_driver_fetches_at_a_lock(elsewhere: Served) -> None:
    """Bytes go through locks, are where the driver's pitch has them, and include its drawing."""
    for handle, width, levels in ((32, 8, 1), (33, 9, 1), (34, 10, 1), (35, 8, 4)):
        elsewhere.create_surface(texture(handle, width, levels))
        size = sum(4 * (width >> level) ** 2 for level in range(levels))
        data = bytes(range(256)) * 2
        elsewhere.write(handle, 0, data[:size])
        elsewhere.write(handle, 30, b"across rows that are not together")
        expected = (data[:30] + b"across rows that are not together" + data[63:])[:size]
        assert elsewhere.read(handle, 0, size) == expected
        submitted(elsewhere, b"")
        drawn = expected if width == 10 else bytes(0xFF ^ byte for byte in expected)
        assert elsewhere.read(handle, 0, size) == drawn
        assert elsewhere.read(handle, 29, 40) == drawn[29:69]
        elsewhere.lock(handle)
        elsewhere.destroy_surface(handle)


def test_a_driver_that_cannot_create_a_surface_says_why(elsewhere: Served) -> None:
    with pytest.raises(Fault) as caught:
        elsewhere.create_surface(texture(36, 13, 1))
    assert caught.value.hr == HResult.DDERR_OUTOFMEMORY


def test_every_level_that_was_created_is_destroyed(elsewhere: Served) -> None:
    before = submitted(elsewhere, b"").dwErrorOffset
    elsewhere.create_surface(texture(37, 8, 4))
    assert submitted(elsewhere, b"").dwErrorOffset == before + 4
    elsewhere.destroy_surface(37)
    assert submitted(elsewhere, b"").dwErrorOffset == before


def test_a_thousand_surfaces_are_no_limit() -> None:
    handles = range(100, 1100)
    with rig_of("linked", KINDS[-1]) as linked:
        for handle in handles:
            linked.create_surface(SurfaceDesc(handle, SurfaceKind.MEMORY, 8))
        for handle in handles[::16]:
            linked.write(handle, 0, struct.pack("<Q", handle))
        for handle in handles[::8]:
            expected = handle if handle in handles[::16] else 0
            assert words(linked, handle, 0, 2) == (expected, 0)
        for handle in handles[::2]:
            linked.destroy_surface(handle)
        with pytest.raises(Fault):
            linked.create_surface(SurfaceDesc(handles[1], SurfaceKind.MEMORY, 8))


@pytest.mark.parametrize("bits", [(), (NINE, "-m32")], ids=["64 bit", "9x, 32 bit"])
@pytest.mark.parametrize(
    ("hook", "options", "placed"),
    [
        ("high", ("-DDP2STUB_ADDRESS=0x80000000u",), (1, 1, 0)),
        ("own", ("-DDP2STUB_RESERVE=from_arena", "-DDP2STUB_RELEASE=to_arena"), (None, None, 1)),
    ],
)
def test_memory_is_where_a_driver_wants_it(
    hook: str, options: tuple[str, ...], placed: tuple[int | None, ...], bits: tuple[str, ...]
) -> None:
    kind = Kind(f"{hook}{len(bits)}", bits)
    with PipeRig(str(program("linked", kind, "linked.c", options=options))) as rig:
        for handle in (1, 2):
            rig.create_surface(SurfaceDesc(handle, SurfaceKind.SURFACE, 3, 1, A8R8G8B8))
            found = words(rig, handle, 0, 3)
            assert all(want in (None, got) for want, got in zip(placed, found, strict=True))
            rig.destroy_surface(handle)


def test_a_driver_for_windows_9x_is_tried_like_others() -> None:
    with PipeRig(str(program("sample", KINDS[-1], *SAMPLE))) as rig:
        verdicts = [outcome.verdict for outcome in run_kit(kit("query"), rig)]
    assert set(verdicts) <= {Verdict.PASSED, Verdict.SKIPPED}
    assert verdicts.count(Verdict.PASSED) > 20


EARLY = ("-DDP2PLAY_NO_SURFACE", "-DDP2STUB_HAS_TEXTURECREATE", "-DSAMPLE_EARLY",
         "-DSAMPLE_DDI=6")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS[2:], ids=[kind.name for kind in KINDS[2:]])
def test_a_driver_from_before_directx_7_gets_interfaces_and_makes_handles_of_textures(
    kind: Kind,
) -> None:
    cases = kit("texture.address", "texture.format", "depth", "draw.trianglelist", ddi=6)
    with PipeRig(str(program("early", kind, *SAMPLE, options=EARLY))) as rig:
        outcomes = list(run_kit(cases, rig, 6))
    assert {(o.case.name, o.why) for o in outcomes if o.verdict is not Verdict.PASSED} == set()


def test_an_early_driver_is_told_when_a_texture_goes() -> None:
    """Its table has 256 places: textures and targets of more cases than that pass through it."""
    case = kit("texture.format.r5g6b5", ddi=6)[0]
    with PipeRig(str(program("early", KINDS[2], *SAMPLE, options=EARLY))) as rig:
        outcomes = list(run_kit([case] * 150, rig, 6))
    assert {o.verdict for o in outcomes} == {Verdict.PASSED}


@pytest.mark.slow
def test_an_early_driver_passes_the_kit_of_its_version() -> None:
    with PipeRig(str(program("early", KINDS[-1], *SAMPLE, options=EARLY))) as rig:
        outcomes = list(run_kit(kit(ddi=6), rig, 6))
    assert [(o.case.name, o.why) for o in outcomes if o.verdict is not Verdict.PASSED] == []


@pytest.mark.slow
@pytest.mark.parametrize("ddi", range(6, 10))
def test_the_sample_driver_of_each_version_passes_the_kit_as_one_for_windows_9x(ddi: int) -> None:
    kind = Kind(f"9x-32-{ddi}", (NINE, "-m32"))
    with PipeRig(str(program("sample", kind, *SAMPLE, options=(f"-DSAMPLE_DDI={ddi}",)))) as rig:
        outcomes = list(run_kit(kit(ddi=ddi), rig))
    failed = [outcome.case.name for outcome in outcomes if outcome.verdict is Verdict.FAILED]
    assert failed == []
    assert len(outcomes) > 200
