"""State blocks: what is recorded, captured, created and executed, and what is refused."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format
from dp2emu.d3d.flags import Dp2Flags
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState7
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import facts_of
from dp2emu.dp2.walk import scan
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits
from tests.dp2.rigging import COLOR, DEPTH, Bench, header, rectangle, render_state, triangle_list

BUFFER_HANDLE, INDEX_HANDLE, TEXTURE = 20, 21, 22
ALL, PIXEL, VERTEX = 1, 2, 3
LIGHT = struct.pack("<I25f", 3, *(float(number) for number in range(25)))
MATRIX = tuple(float(number) for number in range(16))


def stateset(operation: int, handle: int = 0, kind: int = 0) -> bytes:
    return header(39) + struct.pack("<3I", operation, handle, kind)


def begin(handle: int) -> bytes:
    return stateset(0, handle)


END = stateset(1)


def delete(handle: int) -> bytes:
    return stateset(2, handle)


def execute(handle: int) -> bytes:
    return stateset(3, handle)


def capture(handle: int) -> bytes:
    return stateset(4, handle)


def create(handle: int, kind: int) -> bytes:
    return stateset(5, handle, kind)


def words(op: Op, *values: int | float) -> bytes:
    return header(op) + b"".join(
        struct.pack("<f" if isinstance(value, float) else "<i", value) for value in values
    )


def stage_state(stage: int, state: int, value: int) -> bytes:
    return header(25) + struct.pack("<HHI", stage, state, value)


class Blocks(Bench):
    """A bench with what state can name, and a context of any interface."""

    def __init__(self, interface: int = 9, **driver: Any) -> None:
        super().__init__(context=False, **driver)
        make = self.driver.create_surface
        make(SurfaceDesc(BUFFER_HANDLE, SurfaceKind.VERTEXBUFFER, 256))
        make(SurfaceDesc(INDEX_HANDLE, SurfaceKind.INDEXBUFFER, 64))
        make(SurfaceDesc(TEXTURE, SurfaceKind.TEXTURE, 4, 4, int(Format.A8R8G8B8)))
        self.driver.create_context(1, interface=interface, color=COLOR, depth=DEPTH)

    def facts(self) -> dict[str, Any]:
        context = self.driver.context(1)
        assert context is not None
        return facts_of(context)

    def state(self, number: int) -> int:
        context = self.driver.context(1)
        assert context is not None
        return context.state.render_states[number]

    def fails(self, commands: bytes, hr: HResult) -> None:
        assert self.call(commands).ddrval == hr


TOKENS: dict[str, tuple[bytes, bytes]] = {
    "render state": (render_state(27, 1), render_state(27, 0)),
    "stage state": (stage_state(1, 1, 4), stage_state(1, 1, 5)),
    "texture": (stage_state(0, 0, TEXTURE), stage_state(0, 0, 0)),
    "sampler of a vertex shader": (stage_state(257, 13, 3), stage_state(257, 13, 4)),
    "viewport": (words(Op.VIEWPORTINFO, 1, 2, 3, 4), words(Op.VIEWPORTINFO, 5, 6, 7, 8)),
    "depth range": (words(Op.ZRANGE, 0.25, 0.5), words(Op.ZRANGE, 0.5, 0.75)),
    "w range": (words(Op.WINFO, 2.0, 3.0), words(Op.WINFO, 4.0, 5.0)),
    "scissor": (words(Op.SETSCISSORRECT, 1, 2, 3, 4), words(Op.SETSCISSORRECT, 2, 3, 4, 5)),
    "transform": (words(Op.SETTRANSFORM, 2, *MATRIX), words(Op.SETTRANSFORM, 2, *MATRIX[::-1])),
    "world of DirectX 7": (
        words(Op.SETTRANSFORM, 1, *MATRIX),
        words(Op.SETTRANSFORM, 256, *MATRIX[::-1]),
    ),
    "material": (
        words(Op.SETMATERIAL, *map(float, range(17))),
        words(Op.SETMATERIAL, *map(float, range(17, 34))),
    ),
    "light": (
        header(34) + struct.pack("<II", 3, 2) + LIGHT,
        header(34) + struct.pack("<II", 3, 2) + LIGHT[:4] + LIGHT[8:] + bytes(4),
    ),
    "light enable": (words(Op.SETLIGHT, 3, 0), words(Op.SETLIGHT, 3, 1)),
    "clip plane": (
        words(Op.SETCLIPPLANE, 2, 1.0, 2.0, 3.0, 4.0),
        words(Op.SETCLIPPLANE, 2, 4.0, 3.0, 2.0, 1.0),
    ),
    "format of DirectX 8": (words(Op.SETVERTEXSHADER, 0x44), words(Op.SETVERTEXSHADER, 0x144)),
    "format of DirectX 9": (
        words(Op.SETVERTEXSHADERDECL, 0x44),
        words(Op.SETVERTEXSHADERDECL, 0x144),
    ),
    "vertex floats": (
        words(Op.SETVERTEXSHADERCONST, 5, 2, *MATRIX[:8]),
        words(Op.SETVERTEXSHADERCONST, 5, 2, *MATRIX[8:]),
    ),
    "vertex integers": (
        words(Op.SETVERTEXSHADERCONSTI, 1, 1, 1, -2, 3, 4),
        words(Op.SETVERTEXSHADERCONSTI, 1, 1, 4, 3, 2, 1),
    ),
    "vertex booleans": (
        words(Op.SETVERTEXSHADERCONSTB, 1, 1, 1),
        words(Op.SETVERTEXSHADERCONSTB, 1, 1, 0),
    ),
    "pixel floats": (
        words(Op.SETPIXELSHADERCONST, 5, 1, *MATRIX[:4]),
        words(Op.SETPIXELSHADERCONST, 5, 1, *MATRIX[4:8]),
    ),
    "pixel integers": (
        words(Op.SETPIXELSHADERCONSTI, 1, 1, 1, -2, 3, 4),
        words(Op.SETPIXELSHADERCONSTI, 1, 1, 4, 3, 2, 1),
    ),
    "pixel booleans": (
        words(Op.SETPIXELSHADERCONSTB, 1, 1, 1),
        words(Op.SETPIXELSHADERCONSTB, 1, 1, 0),
    ),
    "stream": (
        words(Op.SETSTREAMSOURCE, 1, BUFFER_HANDLE, 8),
        words(Op.SETSTREAMSOURCE2, 1, BUFFER_HANDLE, 16, 4),
    ),
    "user memory": (
        words(Op.SETSTREAMSOURCEUM, 1, 12),
        words(Op.SETSTREAMSOURCE, 1, BUFFER_HANDLE, 8),
    ),
    "frequency": (
        words(Op.SETSTREAMSOURCEFREQ, 0, 0x40000002),
        words(Op.SETSTREAMSOURCEFREQ, 0, 3),
    ),
    "indices": (words(Op.SETINDICES, INDEX_HANDLE, 2), words(Op.SETINDICES, INDEX_HANDLE, 4)),
}
"""A token of each kind that sets state, and another that sets the same thing to something else."""


@pytest.fixture(params=sorted(TOKENS))
def pair(request: pytest.FixtureRequest) -> tuple[bytes, bytes]:
    return TOKENS[request.param]


def test_a_recorded_token_does_nothing_until_the_block_is_executed(
    pair: tuple[bytes, bytes],
) -> None:
    one, other = pair
    bench, plain = Blocks(), Blocks()
    bench.ok(other + begin(7) + one + END)
    plain.ok(other)
    assert without_blocks(bench.facts()) == without_blocks(plain.facts())
    bench.ok(execute(7))
    plain.ok(one)
    assert without_blocks(bench.facts()) == without_blocks(plain.facts())


def test_capturing_takes_the_values_of_now(pair: tuple[bytes, bytes]) -> None:
    one, other = pair
    bench, plain = Blocks(), Blocks()
    bench.ok(begin(7) + one + END + other + capture(7) + one + execute(7))
    plain.ok(one + other)
    assert without_blocks(bench.facts()) == without_blocks(plain.facts())


def test_a_block_of_everything_brings_everything_back(pair: tuple[bytes, bytes]) -> None:
    one, other = pair
    bench = Blocks()
    # Executing it once makes what was never set and what has its default look the same.
    bench.ok(one + create(7, ALL) + execute(7))
    before = without_blocks(bench.facts())
    bench.ok(other)
    assert without_blocks(bench.facts()) != before
    bench.ok(execute(7))
    assert without_blocks(bench.facts()) == before


def without_blocks(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name != "state_blocks"}


def test_the_last_of_several_values_counts_and_the_order_is_that_of_recording() -> None:
    bench = Blocks(7)
    wrap_u = render_state(RenderState7.WRAPU, 1)
    bench.ok(begin(1) + wrap_u + render_state(RenderState7.WRAP0, 2) + END + execute(1))
    assert bench.state(RenderState7.WRAP0) == 2
    bench.ok(begin(1) + wrap_u + render_state(RenderState7.WRAP0, 2) + wrap_u + END + execute(1))
    assert bench.state(RenderState7.WRAP0) == 3


def test_a_block_says_nothing_of_other_states() -> None:
    bench = Blocks()
    bench.ok(begin(1) + render_state(27, 1) + END + render_state(28, 1) + execute(1))
    assert (bench.state(27), bench.state(28)) == (1, 1)
    bench.ok(render_state(27, 0) + render_state(29, 1) + capture(1) + render_state(29, 0))
    bench.ok(render_state(27, 1) + execute(1))
    assert (bench.state(27), bench.state(29)) == (0, 0)


def test_drawing_between_begin_and_end_happens_at_once_and_by_the_old_states() -> None:
    bench = Blocks()
    shape = rectangle(0, 0, 4, 4)
    bench.ok(begin(1) + render_state(168, 0) + triangle_list(0, 2) + END, shape)
    assert bench.driver.read(COLOR, 0, 4) == b"\xff\xff\xff\xff"
    bench.ok(words(Op.CLEAR, 1, 0, 0.0, 0, 0, 0, 4, 4) + execute(1) + triangle_list(0, 2), shape)
    assert bench.driver.read(COLOR, 0, 3) == bytes(3)


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("targets", words(Op.SETRENDERTARGET2, 0, 0)),
        ("depth", words(Op.SETDEPTHSTENCIL, 0)),
        ("palettes", header(31) + struct.pack("<IHHI", 3, 0, 1, 0x11223344)),
        ("vertex_shader", header(74) + struct.pack("<4I", 5, 8, 0xFFFE0200, 0x0000FFFF)
         + words(Op.DELETEVERTEXSHADERFUNC, 5)),
        ("lights", words(Op.CREATELIGHT, 4)),
        ("queries", words(Op.CREATEQUERY, 4, 8)),
        ("textures", words(Op.SETTEXLOD, TEXTURE, 1)),
    ],
)  # fmt: skip
def test_what_is_no_device_state_is_done_at_once(name: str, commands: bytes) -> None:
    bench, plain = Blocks(), Blocks()
    bench.ok(begin(1) + commands + END)
    plain.ok(commands)
    assert bench.facts()[name] == plain.facts()[name]
    assert bench.facts()["state_blocks"]["settings"] == {"1": 0}


@pytest.mark.parametrize("state", [61, 62, 169])
def test_requests_in_the_form_of_render_states_are_not_recorded(state: int) -> None:
    bench = Blocks()
    bench.ok(begin(1) + render_state(state, 5) + END)
    assert bench.state(state) == 5
    assert bench.facts()["state_blocks"]["settings"] == {"1": 0}


@pytest.mark.parametrize(
    "ignored",
    [
        render_state(256, 1),
        stage_state(300, 1, 1),
        stage_state(0, 33, 1),
        words(Op.SETTRANSFORM, 7, *MATRIX),
        words(Op.MULTIPLYTRANSFORM, 7, *MATRIX),
        words(Op.SETCLIPPLANE, 32, 1.0, 2.0, 3.0, 4.0),
        words(Op.SETVERTEXSHADERCONST, 256, 1, *MATRIX[:4]),
    ],
)
def test_what_is_ignored_is_not_recorded_either(ignored: bytes) -> None:
    bench = Blocks()
    bench.ok(begin(1) + ignored + END + capture(1) + execute(1))
    assert bench.facts()["state_blocks"]["settings"] == {"1": 0}


def test_multiplying_is_recorded_as_the_product() -> None:
    bench = Blocks()
    double = tuple(2.0 * (row == column) for row in range(4) for column in range(4))
    twice = words(Op.MULTIPLYTRANSFORM, 2, *double)
    bench.ok(words(Op.SETTRANSFORM, 2, *MATRIX) + begin(1) + twice + twice + END)
    assert bench.facts()["transforms"]["D3DTS_VIEW"] == list(MATRIX)
    bench.ok(execute(1))
    assert bench.facts()["transforms"]["D3DTS_VIEW"] == [4 * number for number in MATRIX]


def test_a_block_may_be_recorded_over_several_calls() -> None:
    bench = Blocks()
    bench.ok(begin(1))
    assert bench.facts()["state_blocks"]["recording"] == 1
    bench.ok(render_state(27, 1))
    bench.ok(END)
    assert bench.state(27) == 0
    bench.ok(execute(1))
    assert bench.state(27) == 1
    assert bench.facts()["state_blocks"] == {"recording": None, "settings": {"1": 1}}


def test_end_ignores_its_handle_and_a_handle_is_used_again() -> None:
    bench = Blocks()
    bench.ok(begin(1) + render_state(27, 1) + render_state(28, 1) + stateset(1, 99))
    bench.ok(begin(1) + render_state(28, 1) + END + execute(1))
    assert (bench.state(27), bench.state(28)) == (0, 1)
    assert bench.facts()["state_blocks"]["settings"] == {"1": 1}


def test_handle_0_is_a_block_like_any() -> None:
    bench = Blocks()
    bench.ok(begin(0) + render_state(27, 1))
    bench.fails(begin(1), HResult.D3DERR_DRIVERINVALIDCALL)
    bench.ok(END + execute(0))
    assert bench.state(27) == 1


@pytest.mark.parametrize("operation", [0, 3, 4, 5])
def test_while_a_block_is_recorded_no_other_is_begun_used_or_created(operation: int) -> None:
    bench = Blocks()
    bench.ok(begin(2) + END + begin(1))
    bench.fails(stateset(operation, 2, ALL), HResult.D3DERR_DRIVERINVALIDCALL)
    bench.ok(delete(2) + END)
    assert bench.facts()["state_blocks"]["settings"] == {"1": 0}


def test_there_is_no_end_without_begin() -> None:
    Blocks().fails(END, HResult.D3DERR_DRIVERINVALIDCALL)


@pytest.mark.parametrize("operation", [2, 3, 4])
def test_an_unknown_handle_is_refused(operation: int) -> None:
    bench = Blocks()
    bench.ok(begin(1) + END + delete(1))
    bench.fails(stateset(operation, 1), HResult.DDERR_INVALIDPARAMS)


@pytest.mark.parametrize("commands", [stateset(6, 1, ALL), create(1, 0), create(1, 4)])
def test_unknown_operations_and_types_are_refused(commands: bytes) -> None:
    Blocks().fails(commands, HResult.DDERR_INVALIDPARAMS)


@pytest.mark.parametrize(
    ("commands", "hr"),
    [
        (words(Op.SETSTREAMSOURCE, 16, BUFFER_HANDLE, 8), HResult.DDERR_INVALIDPARAMS),
        (words(Op.SETSTREAMSOURCEUM, 0, 1 << 16), HResult.DDERR_INVALIDPARAMS),
        (words(Op.SETSTREAMSOURCEFREQ, 0, 0), HResult.D3DERR_DRIVERINVALIDCALL),
        (words(Op.SETSTREAMSOURCEFREQ, 16, 1), HResult.DDERR_INVALIDPARAMS),
        (words(Op.SETLIGHT, 0, 3), HResult.DDERR_INVALIDPARAMS),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_recorded(commands: bytes, hr: HResult) -> None:
    bench = Blocks()
    bench.ok(begin(1))
    bench.fails(commands, hr)
    bench.ok(END)


def test_strictly_registers_there_are_not_are_refused_when_recorded() -> None:
    bench = Blocks(options=Options(strict=True))
    bench.ok(begin(1))
    bench.fails(
        words(Op.SETVERTEXSHADERCONST, 256, 1, *MATRIX[:4]), HResult.D3DERR_DRIVERINVALIDCALL
    )


def test_handles_are_looked_up_when_a_block_is_executed() -> None:
    bench = Blocks()
    bench.ok(begin(1) + words(Op.SETSTREAMSOURCE, 0, 77, 8) + END)
    bench.fails(execute(1), HResult.DDERR_INVALIDPARAMS)
    bench.driver.create_surface(SurfaceDesc(77, SurfaceKind.VERTEXBUFFER, 64))
    bench.ok(execute(1))
    assert bench.facts()["streams"]["0"]["surface"] == 77


def test_states_are_mirrored_when_a_block_is_executed() -> None:
    bench = Blocks(7)
    bench.driver.create_surface(SurfaceDesc(30, SurfaceKind.MEMORY, 1024))
    mirrored = {"dwFlags": Dp2Flags.EXECUTEBUFFER, "lpdwRStates": 30}
    bench.ok(begin(1) + render_state(27, 5) + END, **mirrored)
    assert bench.driver.read(30, 4 * 27, 4) == bytes(4)
    bench.ok(execute(1), **mirrored)
    assert bench.driver.read(30, 4 * 27, 4) == b"\5\0\0\0"


@pytest.mark.parametrize(("interface", "refused"), [(7, True), (8, False), (9, False)])
def test_strictly_blocks_are_created_from_directx_8_on(interface: int, refused: bool) -> None:
    bench = Blocks(interface, options=Options(strict=True))
    wanted = HResult.DDERR_INVALIDPARAMS if refused else HResult.D3D_OK
    assert bench.call(create(1, ALL)).ddrval == wanted


# What predefined blocks hold


def held(interface: int, kind: int) -> set[str]:
    """Names of facts of which a block of a kind brings something back."""
    found = set()
    for name, (one, other) in TOKENS.items():
        bench = Blocks(interface)
        bench.ok(one + create(1, kind) + other)
        changed = without_blocks(bench.facts())
        bench.ok(execute(1))
        # Registers that were only zero until now count as written afterwards.
        facts = without_blocks(bench.facts())
        if any(facts[key] != changed[key] for key in facts if "constants" not in key):
            found.add(name)
        if any(
            facts[key].get(register) != value
            for key in ("vertex_constants", "pixel_constants")
            for register, value in changed[key].items()
        ):
            found.add(name)
    return found


def test_pixel_state_is_stages_samplers_and_the_pixel_shader() -> None:
    assert held(9, PIXEL) == {
        "render state", "stage state", "sampler of a vertex shader",
        "pixel floats", "pixel integers", "pixel booleans",
    }  # fmt: skip


def test_vertex_state_is_formats_lights_and_the_vertex_shader() -> None:
    assert held(9, VERTEX) == {
        "format of DirectX 8", "format of DirectX 9", "light", "light enable",
        "vertex floats", "vertex integers", "vertex booleans",
    }  # fmt: skip


@pytest.mark.parametrize("interface", [7, 8, 9])
def test_all_state_is_all_there_is(interface: int) -> None:
    assert held(interface, ALL) == set(TOKENS)


PIXEL_STATES = {
    7, 8, 9, 14, 15, 16, 19, 20, 23, 24, 25, 26, 27, 36, 37, 38, *range(52, 61), *range(128, 136),
    168, 171, 174, 175, 176, *range(185, 196), *range(198, 210), 10, 30, 40, 47,
}  # fmt: skip
VERTEX_STATES = {
    9, 22, 28, 29, 34, 35, 36, 37, 38, 48, 136, 137, *range(139, 144), *range(145, 149),
    *range(151, 165), 166, 167, 170, 172, 173, *range(178, 185),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "states"), [(PIXEL, PIXEL_STATES), (VERTEX, VERTEX_STATES)])
def test_render_states_of_predefined_blocks(kind: int, states: set[int]) -> None:
    bench = Blocks()
    numbers = set(range(256)) - {61, 62, 169}
    bench.ok(b"".join(render_state(number, 1000 + number) for number in sorted(numbers)))
    bench.ok(create(1, kind))
    bench.ok(b"".join(render_state(number, 0) for number in sorted(numbers)) + execute(1))
    assert {number for number in numbers if bench.state(number)} == states


@pytest.mark.parametrize(
    ("kind", "states"),
    [(PIXEL, {*range(1, 12), *range(13, 31), 32}), (VERTEX, {11, 24, 31}), (ALL, {*range(1, 33)})],
)
def test_stage_and_sampler_states_of_predefined_blocks(kind: int, states: set[int]) -> None:
    bench = Blocks()
    numbers = range(1, 33)
    bench.ok(b"".join(stage_state(3, number, 1000 + number) for number in reversed(numbers)))
    bench.ok(create(1, kind))
    bench.ok(b"".join(stage_state(3, number, 0) for number in numbers) + execute(1))
    context = bench.driver.context(1)
    assert context is not None
    assert {n for n in numbers if context.state.stage(3)[n]} >= states - {12, 13, 14}
    assert {n for n in numbers if context.state.stage(3)[n]} <= states


# States of DirectX 6 and 7 that mean something of stage 0


def test_a_texture_handle_state_captures_what_the_stage_has() -> None:
    bench = Blocks(7)
    bench.ok(begin(1) + render_state(RenderState7.TEXTUREHANDLE, TEXTURE) + END + execute(1))
    assert bench.facts()["stages"]["0"]["D3DTSS_TEXTUREMAP"] == TEXTURE
    bench.ok(stage_state(0, 0, 0) + capture(1) + stage_state(0, 0, TEXTURE) + execute(1))
    assert bench.facts()["stages"]["0"]["D3DTSS_TEXTUREMAP"] == 0


def test_a_texture_map_blend_lasts_until_an_operation_is_set_in_blocks_too() -> None:
    bench = Blocks(7)
    context = bench.driver.context(1)
    assert context is not None
    blend, operation = render_state(RenderState7.TEXTUREMAPBLEND, 7), stage_state(0, 1, 4)
    bench.ok(begin(1) + blend + operation + END + begin(2) + operation + blend + END)
    bench.ok(execute(2))
    assert context.state.map_blend == 7
    bench.ok(execute(1))
    assert context.state.map_blend == 0
    other = render_state(RenderState7.TEXTUREMAPBLEND, 2)
    bench.ok(other + blend + capture(1) + operation + execute(1))
    assert context.state.map_blend == 7


def test_wrap_u_and_wrap_v_are_bits_that_are_kept_apart() -> None:
    bench = Blocks(7)
    bench.ok(render_state(RenderState7.WRAPU, 1) + begin(1))
    bench.ok(render_state(RenderState7.WRAPU, 0) + END + render_state(RenderState7.WRAPV, 1))
    bench.ok(execute(1))
    assert bench.state(RenderState7.WRAP0) == 2
    bench.ok(render_state(RenderState7.WRAP0, 1) + capture(1))
    bench.ok(render_state(RenderState7.WRAP0, 2) + execute(1))
    assert bench.state(RenderState7.WRAP0) == 3


# Bounds


def test_settings_of_all_blocks_together_are_bounded() -> None:
    bench = Blocks(limits=Limits(settings=3))
    two = render_state(27, 1) + render_state(28, 1)
    bench.ok(begin(1) + two + END + begin(1) + render_state(27, 1))
    bench.fails(render_state(29, 1), HResult.DDERR_OUTOFMEMORY)
    bench.ok(END + begin(2) + two + two + END)
    assert bench.facts()["state_blocks"]["settings"] == {"1": 1, "2": 2}
    bench.fails(create(3, PIXEL), HResult.DDERR_OUTOFMEMORY)
    bench.ok(delete(2) + delete(1) + begin(1) + two + END)


def test_blocks_are_bounded_in_number() -> None:
    bench = Blocks(limits=Limits(objects=2))
    bench.ok(begin(1) + END + begin(2) + END + begin(2) + END + begin(3))
    bench.fails(END, HResult.DDERR_OUTOFMEMORY)
    assert bench.facts()["state_blocks"] == {"recording": None, "settings": {"1": 0, "2": 0}}


def _operations() -> st.SearchStrategy[bytes]:
    numbers, small = st.integers(0, 6), st.integers(0, 3)
    return st.lists(
        st.one_of(
            st.builds(stateset, numbers, small, small),
            st.sampled_from([token for pair in TOKENS.values() for token in pair]),
        ),
        max_size=30,
    ).map(b"".join)


def tokens_of(data: bytes) -> Iterator[bytes]:
    """Each token by itself, so that one that is refused does not hide the rest."""
    for offset, _, _, _, end in scan(data, 0, len(data)).commands:
        yield data[offset:end]


@settings(max_examples=60, deadline=None)
@given(_operations(), st.sampled_from([7, 8, 9]))
def test_executing_what_was_just_captured_changes_nothing(data: bytes, interface: int) -> None:
    bench = Blocks(interface)
    for token in tokens_of(data):
        bench.call(token)
    if bench.facts()["state_blocks"]["recording"] is not None:
        bench.ok(END)
    for handle in bench.facts()["state_blocks"]["settings"]:
        bench.ok(capture(int(handle)) + execute(int(handle)))
        before = without_blocks(bench.facts())
        bench.ok(execute(int(handle)))
        assert without_blocks(bench.facts()) == before
