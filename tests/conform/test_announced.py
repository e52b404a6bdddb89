"""What a driver announces is tried: each kind of format has a case that a mistake in it fails."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from dp2emu.conform import Case, Verdict, kit, run_case
from dp2emu.conform.case import Shown
from dp2emu.conform.needed import lacking
from dp2emu.conform.script import DEPTH, TEXTURE
from dp2emu.conform.target import TARGET
from dp2emu.d3d.capabilities import Capabilities
from dp2emu.d3d.capflags import FormatOp
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import CmpFunc, Format, RenderState, TextureOp, TextureStageState
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.conform.mistakes import Emulator

SECOND = 9
"""The handle of a second target or texture."""
DEPTHS = FormatOp.ZSTENCIL | FormatOp.ZSTENCIL_WITH_ARBITRARY_COLOR_DEPTH
Change = Callable[[bytes], bytes]


def announced(name: str, ddi: int = 9) -> Case:
    """The case of the emulator's announcement with a name."""
    told = Emulator().capabilities(ddi)
    return next(case for case in kit(name, ddi=ddi, capabilities=told) if case.name == name)


class Mistaken(Emulator):
    """The emulator with texels or commands changed on the way to it."""

    def __init__(self, texels: Change | None, commands: Change | None) -> None:
        super().__init__()
        self.texels, self.commands = texels, commands

    def write(self, handle: int, offset: int, data: bytes) -> None:
        changed = self.texels is not None and handle == TEXTURE
        super().write(handle, offset, self.texels(data) if self.texels and changed else data)

    def submit(self, call: Call) -> Answer:
        commands = call.commands or b""
        return super().submit(
            replace(call, commands=self.commands(commands) if self.commands else commands)
        )


def swapped(size: int, one: int, other: int) -> Change:
    """Exchanges bytes of each texel or block of a size."""

    def change(data: bytes) -> bytes:
        found = bytearray(data)
        for at in range(0, len(data), size):
            found[at + one], found[at + other] = found[at + other], found[at + one]
        return bytes(found)

    return change


def negated(size: int, bits: int) -> Change:
    """Makes vectors unsigned: the sign bit of each lane is lost."""
    return lambda data: b"".join(
        (int.from_bytes(data[at : at + size], "little") & ~bits).to_bytes(size, "little")
        for at in range(0, len(data), size)
    )


def state(op: int, number: int, old: int, new: int) -> Change:
    """Changes a value of a state."""
    head = struct.pack("<II" if op == Op.RENDERSTATE else "<HHI", *(
        (number, old) if op == Op.RENDERSTATE else (0, number, old)
    ))  # fmt: skip
    return lambda data: data.replace(head, head[:-4] + struct.pack("<I", new))


def without_updates(data: bytes) -> bytes:
    """Updates of palettes become render states that mean nothing here."""
    at = data.find(struct.pack("<BBHI2H", Op.UPDATEPALETTE, 0, 1, 3, 2, 1))
    return data if at < 0 else data[: at + 8] + struct.pack("<H", 7) + data[at + 10 :]


RS = Op.RENDERSTATE
NO_STENCIL = state(RS, RenderState.STENCILENABLE, 1, 0)
NEAR = state(RS, RenderState.ZFUNC, CmpFunc.LESSEQUAL, CmpFunc.ALWAYS)
DARK = state(
    Op.TEXTURESTAGESTATE, TextureStageState.COLOROP, TextureOp.BUMPENVMAPLUMINANCE,
    TextureOp.BUMPENVMAP,
)  # fmt: skip
MISTAKES: list[tuple[str, int, Change | None, Change | None]] = [
    *((f"announced.texture.{name}", ddi, swapped(8, 0, 2), None)
      for name, ddi in (("dxt1", 6), ("dxt1", 9))),
    ("announced.texture.dxt1", 9, swapped(8, 4, 5), None),
    *((f"announced.texture.dxt{number}", 8, swapped(16, 8, 10), None) for number in (2, 3, 4, 5)),
    *((f"announced.texture.dxt{number}", 8, swapped(16, 2, 3), None) for number in (2, 3, 4, 5)),
    ("announced.texture.dxt5", 9, swapped(16, 0, 1), None),
    ("announced.texture.yuy2", 9, swapped(4, 0, 2), None),
    ("announced.texture.uyvy", 6, swapped(2, 0, 1), None),
    ("announced.texture.r8g8_b8g8", 9, swapped(8, 0, 4), None),
    *(("announced.texture.p8", ddi, None, without_updates) for ddi in (6, 9)),
    ("announced.texture.a8p8", 9, None, without_updates),
    ("announced.texture.a8p8", 9, swapped(2, 0, 1), None),
    *(("announced.texture.v8u8", ddi, swapped(2, 0, 1), None) for ddi in (6, 9)),
    ("announced.texture.v8u8", 9, negated(2, 0x8080), None),
    ("announced.texture.q8w8v8u8", 9, swapped(4, 0, 1), None),
    ("announced.texture.v16u16", 9, swapped(4, 1, 3), None),
    ("announced.texture.v16u16", 9, negated(4, 0x80008000), None),
    ("announced.texture.l6v5u5", 7, negated(2, 0x210), None),
    ("announced.texture.x8l8v8u8", 9, swapped(4, 0, 1), None),
    ("announced.luminance.l6v5u5", 7, None, DARK),
    ("announced.luminance.x8l8v8u8", 9, None, DARK),
    *((f"announced.depth.{name}", ddi, None, NEAR)
      for name, ddi in (("d16", 6), ("d16", 9), ("d24s8", 7), ("d32", 8), ("d15s1", 9))),
    *((f"announced.stencil.{name}", ddi, None, NO_STENCIL)
      for name, ddi in (("d24s8", 7), ("d15s1", 8), ("d24x4s4", 9), ("s8_lockable", 9))),
]  # fmt: skip
"""Case, version, and a mistake: in texels, or in commands."""


@pytest.mark.parametrize(("name", "ddi", "texels", "commands"), MISTAKES)
def test_a_mistake_in_an_announced_format_fails_its_case(
    name: str, ddi: int, texels: Change | None, commands: Change | None
) -> None:
    case = announced(name, ddi)
    assert run_case(case, Emulator()).verdict is Verdict.PASSED
    assert run_case(case, Mistaken(texels, commands)).verdict is Verdict.FAILED


@pytest.mark.parametrize(("name", "ddi"), [("r5g6b5", 6), ("x1r5g5b5", 7), ("a2b10g10r10", 9)])
def test_a_target_of_which_bytes_are_exchanged_fails_its_case(name: str, ddi: int) -> None:
    class Exchanged(Emulator):
        def read(self, handle: int, offset: int, size: int) -> bytes:
            if handle != SECOND:
                return super().read(handle, offset, size)
            start, end = offset & ~1, (offset + size + 1) & ~1
            data = swapped(2, 0, 1)(super().read(handle, start, end - start))
            return data[offset - start :][:size]

    case = announced(f"announced.target.{name}", ddi)
    assert run_case(case, Emulator()).verdict is Verdict.PASSED
    assert run_case(case, Exchanged()).verdict is Verdict.FAILED


def test_a_depth_format_for_its_own_pixel_size_is_not_tried_with_another() -> None:
    def names(operations: int, ddi: int = 9) -> list[str]:
        told = Capabilities(ddi, formats=((Format.D16, operations), (Format.D24S8, operations)))
        return [case.name for case in kit("announced", ddi=ddi, capabilities=told)]

    assert names(FormatOp.ZSTENCIL) == ["announced.depth.d24s8", "announced.stencil.d24s8"]
    assert "announced.depth.d16" in names(DEPTHS)
    assert "announced.depth.d16" in names(FormatOp.ZSTENCIL, 7)


@pytest.mark.parametrize("ddi", [6, 7, 8])
def test_formats_of_a_later_version_are_not_tried(ddi: int) -> None:
    told = Emulator().capabilities(9)
    names = {case.name for case in kit("announced", ddi=ddi, capabilities=told)}
    assert "announced.texture.r16f" not in names and "announced.texture.dxt1" in names


def test_bump_maps_need_two_stages_and_the_operation() -> None:
    case = announced("announced.texture.v8u8")
    told = Emulator().capabilities()
    few = replace(told, device={**told.device, "MaxSimultaneousTextures": 1, "TextureOpCaps": 2})
    assert set(lacking(case, few)) == {"D3DTEXOPCAPS_BUMPENVMAP", "MaxSimultaneousTextures 2"}


def test_a_bump_format_that_is_a_texture_alone_is_only_sampled() -> None:
    told = Capabilities(9, formats=((Format.V8U8, int(FormatOp.TEXTURE)),))
    (case,) = kit("announced", capabilities=told)
    few = replace(told, device={"TextureOpCaps": 0})
    assert not any("D3DTEXOPCAPS" in name for name in lacking(case, few))


def test_a_texture_smaller_than_a_driver_takes_may_be_refused() -> None:
    told = Emulator().capabilities(7)
    large = replace(told, device={**told.device, "dwMinTextureWidth": 8})
    name = "texture.format.r5g6b5"
    assert [kit(name, ddi=7, capabilities=each)[0].optional for each in (told, large)] == [
        False, True,
    ]  # fmt: skip


@pytest.mark.parametrize(("off", "verdict"), [(2, Verdict.PASSED), (3, Verdict.FAILED)])
def test_bytes_may_differ_by_as_many_steps_as_a_case_says(off: int, verdict: Verdict) -> None:
    case = announced("announced.texture.yuy2")
    shown = tuple(
        replace(each, data=bytes(max(byte - off, 0) for byte in each.data)) for each in case.shown
    )
    assert all(isinstance(each, Shown) and each.handle == TARGET for each in shown)
    assert run_case(replace(case, shown=shown), Emulator()).verdict is verdict


def test_every_kind_of_surface_that_is_announced_has_a_case() -> None:
    told = Emulator().capabilities()
    names = {case.name for case in kit("announced", capabilities=told)}
    for format, operations in told.formats:
        word = Format(format).name.lower()
        for bits, group in (
            (FormatOp.TEXTURE, "texture"), (FormatOp.OFFSCREEN_RENDERTARGET, "target"),
        ):  # fmt: skip
            assert (f"announced.{group}.{word}" in names) is bool(operations & bits)
        depth = {f"announced.depth.{word}", f"announced.stencil.{word}"} & names
        assert bool(depth) is bool(operations & DEPTHS)


def test_depth_surfaces_of_a_case_have_its_format() -> None:
    case = announced("announced.depth.d15s1")
    made = [record.desc for record in case.records if hasattr(record, "desc")]
    depth = SurfaceDesc(DEPTH, SurfaceKind.SURFACE, 32, 16, Format.D15S1)
    assert depth in made
