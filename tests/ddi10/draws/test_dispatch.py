"""Computing through the entries: views for unordered access, dispatches, hidden counters."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pytest

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.queries.counters import Counter
from dp2emu.ddi10.queries.query_types import CreateQuery, Query
from dp2emu.ddi10.resources.resource import BindFlag, CreateResource, MipInfo, ResourceType
from dp2emu.ddi10.resources.unordered_access import CreateUnorderedAccessView
from dp2emu.ddi10.shaders.shader import compute_shader
from dp2emu.ddi10.shaders.stages import PointerData
from dp2emu.ddi10.states.state_objects import DepthStencilDesc
from dp2emu.errors import ContractError, Exceeded, ShaderError, Unsupported, UsageError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import Timing, by_work
from dp2emu.shader.engines import engine
from dp2emu.shader.sm4 import assemble
from dp2emu.taps import Taps
from dp2emu.testing.statistic_intervals import Dispatched, ranges
from tests.ddi10.drawing import strip, tokens
from tests.ddi10.driving import Driven
from tests.ddi10.rendering import RED, Drawing, Handle, Rendering
from tests.shader.engines import ENGINES

UINT, STRUCTURED = DxgiFormat.R32_UINT, DxgiFormat.UNKNOWN
RAW, APPEND, COUNTER = 1, 2, 4
KEEP = 0xFFFFFFFF


class Computing(Rendering):
    """A device that computes."""

    def unordered_buffer(self, words: int = 16, stride: int = 0) -> Handle:
        info = [MipInfo(4 * words)]
        desc = CreateResource(
            info, None, ResourceType.BUFFER, BindFlags=BindFlag.UNORDERED_ACCESS, ByteStride=stride
        )
        return self.make("Resource", desc)

    def view(
        self, buffer: Handle, count: int = 16, *, first: int = 0, flags: int = 0,
        format: DxgiFormat = UINT,
    ) -> Handle:  # fmt: skip
        desc = CreateUnorderedAccessView(
            buffer, format.value, ResourceType.BUFFER, FirstElement=first, NumElements=count,
            Flags=flags,
        )  # fmt: skip
        return self.make("UnorderedAccessView", desc)

    def shader(self, body: str, declarations: str, threads: str = "1, 1, 1") -> None:
        text = f"cs_5_0\n{declarations}\ndcl_temps 4\ndcl_thread_group {threads}\n{body}\nret\n"
        memory = bytearray(self.device.functions["CalcPrivateShaderSize"](b""))
        assert self.call("CreateComputeShader", assemble(text), memory) == []
        self.call("CsSetShader", memory)

    def words(self, buffer: Handle) -> list[int]:
        return np.frombuffer(self.read(buffer), "<u4").tolist()

    def refused(self, entry: str, *arguments: object) -> str:
        """The promise that a call breaks."""
        with pytest.raises(ContractError) as error:
            self.call(entry, *arguments)
        return error.value.rule


COUNT = "dcl_uav_typed_buffer (uint,uint,uint,uint) u0"
ADD = "atomic_iadd u0, l(2), l(1)"


def counting(timing: Timing | None = None) -> tuple[Computing, Handle]:
    """A device whose dispatches add their threads to word 2 of a buffer."""
    driven = Computing(timing)
    buffer = driven.unordered_buffer()
    driven.shader(ADD, COUNT, "4, 2, 1")
    driven.call("CsSetUnorderedAccessViews", 0, [driven.view(buffer)], [KEEP])
    return driven, buffer


def test_a_dispatch_runs_all_threads_of_all_groups() -> None:
    driven, buffer = counting()
    driven.call("Dispatch", 2, 3, 1)
    assert driven.words(buffer) == [0, 0, 48, *[0] * 13]
    assert driven.device.statistics().CSInvocations == 48


def test_the_numbers_of_groups_may_be_in_a_buffer() -> None:
    driven, buffer = counting()
    driven.call("DispatchIndirect", driven.buffer(struct.pack("<5I", 9, 2, 1, 3, 9)), 4)
    assert driven.words(buffer)[2] == 48


def test_the_range_of_a_dispatch_is_its_threads() -> None:
    driven, _ = counting()
    driven.call("Dispatch", 2, 3, 1)
    driven.call("Dispatch", 1, 1, 2)
    allowed = ranges([Dispatched((2, 3, 1), (4, 2, 1)), Dispatched((1, 1, 2), (4, 2, 1))])
    assert allowed.CSInvocations == (64, 64)
    driven.call("Flush")
    assert allowed.outside(driven.device.statistics()) == []
    with pytest.raises(UsageError, match="a dispatch of"):
        ranges([Dispatched((-1, 1, 1), (1, 1, 1))])


@pytest.mark.parametrize("groups", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_no_groups_do_nothing(groups: tuple[int, int, int]) -> None:
    driven, buffer = counting()
    driven.call("Dispatch", *groups)
    assert driven.words(buffer)[2] == 0


def test_nothing_runs_without_a_shader() -> None:
    driven, buffer = counting()
    driven.call("CsSetShader", None)
    driven.call("Dispatch", 1, 1, 1)
    assert driven.words(buffer)[2] == 0


def test_what_is_not_bound_reads_0_and_takes_nothing() -> None:
    driven, buffer = counting()
    driven.call("CsSetUnorderedAccessViews", 0, [None], [KEEP])
    driven.call("Dispatch", 1, 1, 1)
    assert driven.words(buffer)[2] == 0


def test_shaders_with_interfaces_are_set_without_any() -> None:
    driven, buffer = counting()
    driven.call("CsSetShaderWithIfaces", None)
    driven.call("Dispatch", 1, 1, 1)
    assert driven.words(buffer)[2] == 0
    assert driven.refused("CsSetShaderWithIfaces", None, [1], []) == "CLASS_INSTANCES"
    assert driven.refused("CsSetShaderWithIfaces", None, [1], [PointerData()]) == "CLASS_INSTANCES"


def test_dispatches_are_predicated() -> None:
    driven, buffer = counting()
    nothing = driven.issue(Query.OCCLUSIONPREDICATE)
    driven.call("SetPredication", nothing, 0)
    driven.call("Dispatch", 1, 1, 1)
    driven.call("SetPredication", None, 0)
    assert driven.words(buffer)[2] == 0


def test_constants_resources_and_samplers_are_those_of_the_stage() -> None:
    driven = Computing()
    buffer = driven.unordered_buffer()
    driven.shader(
        "iadd r0.xyzw, cb1[1].xyzw, l(1, 2, 3, 4)\nstore_raw u3.xyzw, l(16), r0.xyzw",
        "dcl_constantbuffer cb1[2], immediateIndexed\ndcl_uav_raw u3",
    )
    driven.call("CsSetUnorderedAccessViews", 3, [driven.view(buffer, flags=RAW)], [KEEP])
    constants = driven.buffer(struct.pack("<8I", *range(8)), BindFlag.CONSTANT_BUFFER)
    driven.call("CsSetConstantBuffers", 1, [constants])
    driven.call("Dispatch", 1, 1, 1)
    assert driven.words(buffer)[4:8] == [5, 7, 9, 11]


RANGES = [([16], None), (None, [16]), ([8], [16]), ([16], [24]), ([0], [4112]), ([-16], [16]),
          ([0, 16], [16])]  # fmt: skip


@pytest.mark.parametrize(("first", "counts"), RANGES)
def test_ranges_of_constants_are_multiples_of_16_up_to_4096(
    first: list[int] | None, counts: list[int] | None
) -> None:
    driven = Computing()
    buffer = driven.buffer(bytes(512), BindFlag.CONSTANT_BUFFER)
    arguments = 0, [buffer], first, counts
    assert driven.refused("CsSetConstantBuffers", *arguments) == "CONSTANT_RANGES"


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(("first", "count", "found"), [
    (16, 16, (64, 0)), (0, 32, (0, 64)), (16, 32, (64, 0)), (32, 16, (0, 0)), (0, 0, (0, 0)),
])  # fmt: skip
def test_a_range_of_constants_is_read_and_0_beyond_it(
    name: str, first: int, count: int, found: tuple[int, int]
) -> None:
    driven = Computing(adapter=Adapter(Gpu(run=engine(name)), checking=True))
    buffer = driven.unordered_buffer()
    driven.shader(
        "mov r0.x, cb1[0].x\nmov r0.y, cb1[16].x\nstore_raw u3.xy, l(16), r0.xyxx",
        "dcl_constantbuffer cb1[17], immediateIndexed\ndcl_uav_raw u3",
    )
    driven.call("CsSetUnorderedAccessViews", 3, [driven.view(buffer, flags=RAW)], [KEEP])
    constants = driven.buffer(struct.pack("<128I", *range(128)), BindFlag.CONSTANT_BUFFER)
    driven.call("CsSetConstantBuffers", 1, [constants], [first], [count])
    driven.call("Dispatch", 1, 1, 1)
    assert tuple(driven.words(buffer)[4:6]) == found
    driven.call("CsSetConstantBuffers", 1, [constants])
    driven.call("Dispatch", 1, 1, 1)
    assert driven.words(buffer)[4:6] == [0, 64]


@pytest.mark.parametrize(
    ("version", "declarations", "threads", "what"),
    [
        ("cs_5_0", "", "16, 1, 65", "1040 threads in a group"),
        ("cs_5_0", "", "1, 1, 65", "65 threads along z"),
        ("cs_5_0", "dcl_uav_raw u8", "1, 1, 1", "u8"),
        ("cs_5_0", "dcl_tgsm_raw g0, 32768\ndcl_tgsm_raw g1, 4", "1, 1, 1", "32772 bytes"),
        ("cs_4_0", "", "769, 1, 1", "769 x 1 x 1 threads"),
        ("cs_4_1", "", "1, 1, 2", "2 threads along z"),
        ("cs_4_1", "dcl_uav_raw u1", "1, 1, 1", "u1"),
        ("cs_4_0", "dcl_tgsm_structured g0, 4, 4097", "1, 1, 1", "16388 bytes"),
    ],
)
def test_a_shader_model_has_limits(
    version: str, declarations: str, threads: str, what: str
) -> None:
    text = f"{version}\n{declarations}\ndcl_thread_group {threads}\nret\n"
    with pytest.raises(ShaderError, match=what):
        compute_shader(assemble(text))


@pytest.mark.parametrize(
    ("version", "declarations", "threads"),
    [
        ("cs_5_0", "dcl_uav_raw u7\ndcl_tgsm_raw g0, 32768", "16, 1, 64"),
        ("cs_4_0", "dcl_uav_raw u0\ndcl_tgsm_raw g0, 16384", "768, 1, 1"),
    ],
)
def test_a_shader_may_ask_for_all_there_is(version: str, declarations: str, threads: str) -> None:
    text = f"{version}\n{declarations}\ndcl_thread_group {threads}\nret\n"
    assert compute_shader(assemble(text)).lowered.threads


def test_early_shader_models_compute_too() -> None:
    driven = Computing()
    buffer = driven.unordered_buffer()
    text = (
        "cs_4_0\ndcl_globalFlags enableRawAndStructuredBuffers\ndcl_uav_raw u0\n"
        "dcl_input vThreadID.x\ndcl_temps 1\ndcl_thread_group 4, 1, 1\n"
        "ishl r0.x, vThreadID.x, l(2)\nstore_raw u0.x, r0.x, vThreadID.x\nret\n"
    )
    memory = bytearray(driven.device.functions["CalcPrivateShaderSize"](b""))
    driven.call("CreateComputeShader", assemble(text), memory)
    driven.call("CsSetShader", memory)
    driven.call("CsSetUnorderedAccessViews", 0, [driven.view(buffer, flags=RAW)], [KEEP])
    driven.call("Dispatch", 2, 1, 1)
    assert driven.words(buffer)[:8] == list(range(8))


# Counters of the adapter


def interval(driven: Computing, counter: Counter) -> float:
    """What a counter of fractions says of a dispatch."""
    description = CreateQuery(counter)
    memory = bytearray(driven.device.functions["CalcPrivateQuerySize"](description))
    driven.call("CreateQuery", description, memory)
    driven.call("QueryBegin", memory)
    driven.call("Dispatch", 5, 1, 1)
    driven.call("QueryEnd", memory)
    driven.call("Flush")
    driven.adapter.finish()
    data = bytearray(4)
    driven.call("QueryGetData", memory, data, 4)
    driven.call("DestroyQuery", memory)
    return float(struct.unpack("<f", data)[0])


def test_a_dispatch_is_other_work_and_moves_bytes() -> None:
    driven, _ = counting(by_work())
    driven.call("Flush")
    driven.adapter.finish()
    # 40 threads, each of which reads and writes a word: 10 ticks and 320 / 16.
    assert interval(driven, Counter.OTHER_GPU_PROCESSING) == 1.0
    assert interval(driven, Counter.GPU_IDLE) == 0.0
    for counter in (Counter.VERTEX_PROCESSING, Counter.PIXEL_PROCESSING):
        assert interval(driven, counter) == 0.0
    moved = interval(driven, Counter.LOCAL_VIDMEM_BANDWIDTH_UTILIZATION)
    # The command itself is uploaded: 16 bytes.
    assert moved == np.float32((320 + 16) / (30 * 16))


# Counters that views hide

ALLOCATE = """imm_atomic_alloc r0.x, u0
store_structured u0.x, r0.x, l(0), vThreadID.x"""
COUNTED = "dcl_uav_structured_opc u0, 4\ndcl_input vThreadID.x"


@pytest.mark.parametrize("flags", [APPEND, COUNTER])
def test_a_buffer_is_appended_to_and_consumed_from(flags: int) -> None:
    driven = Computing()
    buffer, counts = driven.unordered_buffer(stride=4), driven.buffer(bytes(16))
    view = driven.view(buffer, format=STRUCTURED, flags=flags)
    driven.shader(ALLOCATE, COUNTED, "3, 1, 1")
    driven.call("CsSetUnorderedAccessViews", 0, [view], [2])
    driven.call("Dispatch", 2, 1, 1)
    driven.call("CopyStructureCount", counts, 0, view)
    driven.shader("imm_atomic_consume r0.x, u0", COUNTED, "2, 1, 1")
    driven.call("CsSetUnorderedAccessViews", 0, [view], [KEEP])
    driven.call("Dispatch", 1, 1, 1)
    driven.call("CopyStructureCount", counts, 8, view)
    assert driven.words(buffer) == [0, 0, *range(6), *[0] * 8]
    assert driven.words(counts) == [8, 0, 6, 0]


def test_a_counter_begins_where_it_is_told_and_else_goes_on() -> None:
    driven = Computing()
    view = driven.view(driven.unordered_buffer(stride=4), format=STRUCTURED, flags=COUNTER)
    counts = driven.buffer(bytes(12))
    for place, told in enumerate((7, KEEP, 0)):
        driven.call("CsSetUnorderedAccessViews", 0, [view], [told])
        driven.call("CopyStructureCount", counts, 4 * place, view)
    assert driven.words(counts) == [7, 7, 0]


# Clears


def test_clears_of_bits_and_floats() -> None:
    driven = Computing()
    texture = driven.texture(width=4, height=4, bind=BindFlag.UNORDERED_ACCESS, slices=2)
    desc = CreateUnorderedAccessView(
        texture, DxgiFormat.R8G8B8A8_UNORM.value, ResourceType.TEXTURE2D, 0, 1, 1
    )
    view = driven.make("UnorderedAccessView", desc)
    driven.call("ClearUnorderedAccessViewUint", view, (0x101, 2, 3, 4))
    assert not driven.pixels(texture, 0, 4).any()
    assert (driven.pixels(texture, 1, 4) == 0x04030201).all()
    driven.call("ClearUnorderedAccessViewFloat", view, (1.0, 0.5, 0.0, 2.0))
    assert (driven.pixels(texture, 1, 4) == 0xFF0080FF).all()


def test_integers_are_not_cleared_by_floats() -> None:
    driven = Computing()
    for view in (
        driven.view(driven.unordered_buffer()),
        driven.view(driven.unordered_buffer(), flags=RAW),
    ):
        rule = driven.refused("ClearUnorderedAccessViewFloat", view, (0.0,) * 4)
        assert rule == "FLOAT_CLEAR"


# Views


@pytest.mark.parametrize(
    ("words", "stride", "desc"),
    [
        (4, 0, {"FirstElement": 1, "NumElements": 4}),
        (4, 0, {"NumElements": 0}),
        (4, 0, {"NumElements": 4, "Flags": COUNTER}),
        (4, 0, {"NumElements": 4, "Format": STRUCTURED.value}),
        (4, 0, {"NumElements": 4, "Format": DxgiFormat.R8G8B8A8_UNORM_SRGB.value}),
        (4, 0, {"NumElements": 4, "Format": DxgiFormat.BC1_UNORM.value}),
        (4, 6, {"NumElements": 1, "Format": STRUCTURED.value}),
    ],
)
def test_views_that_cannot_be_are_refused(words: int, stride: int, desc: dict[str, int]) -> None:
    driven = Computing()
    buffer = driven.unordered_buffer(words, stride)
    wanted = {"Format": UINT.value, "ResourceDimension": ResourceType.BUFFER, **desc}
    memory = driven.memory_of("UnorderedAccessView")
    description = CreateUnorderedAccessView(buffer, **wanted)
    assert driven.refused("CreateUnorderedAccessView", description, memory) == "KNOWN_VIEW"


def test_resources_are_made_for_unordered_access() -> None:
    driven = Computing()
    desc = CreateUnorderedAccessView(
        driven.buffer(bytes(16)), UINT.value, ResourceType.BUFFER, NumElements=4
    )
    memory = driven.memory_of("UnorderedAccessView")
    assert driven.refused("CreateUnorderedAccessView", desc, memory) == "KNOWN_VIEW"


def test_colours_without_a_type_are_words() -> None:
    driven = Computing()
    texture = driven.texture(DxgiFormat.R8G8B8A8_TYPELESS, 4, 4, bind=BindFlag.UNORDERED_ACCESS)
    desc = CreateUnorderedAccessView(texture, UINT.value, ResourceType.TEXTURE2D)
    driven.shader(
        "imm_atomic_iadd r0.x, u0, vThreadID.xyxx, l(5)\n",
        "dcl_uav_typed_texture2d (uint,uint,uint,uint) u0\ndcl_input vThreadID.xy",
        "2, 4, 1",
    )
    driven.call("CsSetUnorderedAccessViews", 0, [driven.make("UnorderedAccessView", desc)], [KEEP])
    driven.call("Dispatch", 1, 1, 1)
    assert driven.pixels(texture, 0, 4).tolist() == [[5, 5, 0, 0]] * 4


def test_calls_that_no_runtime_makes_are_contract_errors() -> None:
    driven, buffer = counting()
    view = driven.view(buffer)
    for entry, arguments, rule in (
        ("CsSetUnorderedAccessViews", (8, [view], [0]), "SLOTS"),
        ("CsSetUnorderedAccessViews", (0, [view], [0, 1]), "SLOTS"),
        ("CsSetUnorderedAccessViews", (0, [view], [-1]), "NUMBERS"),
        ("CsSetUnorderedAccessViews", (0, [bytearray(16)], [0]), "LIVE_OBJECT"),
        ("Dispatch", (65536, 1, 1), "NUMBERS"),
        ("DispatchIndirect", (buffer, 2), "NUMBERS"),
        ("DispatchIndirect", (buffer, 56), "INSIDE"),
        ("DrawInstancedIndirect", (buffer, 52), "INSIDE"),
        ("DrawIndexedInstancedIndirect", (buffer, 48), "INSIDE"),
        ("CopyStructureCount", (buffer, 64, view), "INSIDE"),
        ("CopyStructureCount", (buffer, 0, view), "KNOWN_VIEW"),
        ("ClearUnorderedAccessViewUint", (view, (1, 2, 3)), "NUMBERS"),
        ("DestroyResource", (buffer,), "VIEWS_LEFT"),
    ):
        assert driven.refused(entry, *arguments) == rule


@pytest.mark.parametrize("entry", ["DrawInstancedIndirect", "DrawIndexedInstancedIndirect"])
def test_a_broken_promise_is_said_of_the_draw_that_broke_it(entry: str) -> None:
    driven, buffer = counting()
    with pytest.raises(ContractError, match=rf"^{entry}: "):
        driven.call(entry, buffer, 2)


# Draws whose numbers are in a buffer


def test_a_draw_finds_its_numbers_when_it_executes() -> None:
    driven = Drawing()
    arguments = driven.buffer(struct.pack("<5I", 9, 4, 1, 0, 0))
    driven.call("DrawInstancedIndirect", arguments, 4)
    assert driven.filled == 256
    assert driven.device.statistics().IAVertices == 4


def test_a_draw_with_indices_finds_the_base_too() -> None:
    driven = Drawing()
    driven.vertices([[0] * 8] * 2 + strip(RED))
    indices = driven.buffer(struct.pack("<6H", 9, 9, 1, 2, 3, 4), BindFlag.INDEX_BUFFER)
    driven.call("IaSetIndexBuffer", indices, DxgiFormat.R16_UINT.value, 0)
    for base, filled in ((1, 256), (-1, 0)):
        driven.call("ClearRenderTargetView", driven.view, (0, 0, 0, 0))
        arguments = driven.buffer(struct.pack("<3Ii2I", 4, 2, 2, base, 0, 0))
        driven.call("DrawIndexedInstancedIndirect", arguments, 0)
        assert driven.filled == filled
    assert driven.device.statistics().IAVertices == 16


def test_taps_have_the_numbers_of_such_draws() -> None:
    driven = Drawing()
    taps = Taps(driven.adapter.gpu)
    driven.call("DrawInstancedIndirect", driven.buffer(struct.pack("<4I", 4, 0, 0, 0)), 0)
    driven.call("DrawInstancedIndirect", driven.buffer(struct.pack("<4I", 3, 1, 1, 0)), 0)
    driven.call("DrawInstancedIndirect", driven.buffer(struct.pack("<4I", 4, 1, 0, 0)), 0)
    driven.call("Flush")
    driven.adapter.finish()
    assert [(each.number, each.packet.input.count, each.count) for each in taps.draws] == [
        (0, 1, 136), (1, 2, 256)
    ]  # fmt: skip
    assert [each.number for each in taps.history(15, 15)] == [0, 1]


@pytest.mark.parametrize("numbers", [(2, 1, 0, 0), (4, 0, 0, 0), (0, 1, 0, 0)])
def test_draws_of_nothing_draw_nothing(numbers: Sequence[int]) -> None:
    driven = Drawing()
    driven.call("DrawInstancedIndirect", driven.buffer(struct.pack("<4I", *numbers)), 0)
    assert driven.filled == 0
    assert driven.device.statistics().IAVertices == 0


def test_draws_of_too_much_say_so_when_they_execute() -> None:
    driven = Drawing()
    driven.call("DrawInstancedIndirect", driven.buffer(struct.pack("<4I", KEEP, 3, 0, 0)), 0)
    with pytest.raises(Unsupported, match="draws of more than"):
        driven.call("Flush")


def test_a_dispatch_may_make_the_numbers_of_a_draw() -> None:
    driven = type("Both", (Computing, Drawing), {})()
    driven.shader("store_raw u0.xyzw, l(0), l(4, 1, 0, 0)", "dcl_uav_raw u0")
    arguments = driven.unordered_buffer()
    view = Computing.view(driven, arguments, flags=RAW)
    driven.call("CsSetUnorderedAccessViews", 0, [view], [KEEP])
    driven.call("Dispatch", 1, 1, 1)
    driven.call("DrawInstancedIndirect", arguments, 0)
    assert driven.filled == 256


# Pixel shaders

PIXEL = """ps_5_0
{declarations}
dcl_uav_structured_opc u1, 4
dcl_uav_raw u2
dcl_input_ps_siv linear noperspective v0.xy, position
dcl_output o0.xyzw
dcl_temps 4
{body}
ret
"""
SEEN = """imm_atomic_alloc r0.x, u1
ftou r1.xy, v0.xyxx
imad r1.x, r1.y, l(16), r1.x
store_structured u1.x, r0.x, l(0), r1.x
mov o0.xyzw, l(1.0, 0, 0, 1.0)"""


class Acting(Drawing):
    """A device whose pixel shaders append the numbers of their pixels to a list."""

    view_of = Computing.view
    unordered_buffer = Computing.unordered_buffer
    words = Computing.words

    def __init__(self, body: str = SEEN, declarations: str = "", **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.list = self.unordered_buffer(1024, 4)
        self.other = self.unordered_buffer(64)
        self.counted = self.view_of(self.list, 1024, format=STRUCTURED, flags=COUNTER)
        self.raw = self.view_of(self.other, 64, flags=RAW)
        self.counts = self.buffer(bytes(4))
        text = PIXEL.format(body=body, declarations=declarations)
        memory = bytearray(self.device.functions["CalcPrivateShaderSize"](b""))
        assert self.call("CreatePixelShader", assemble(text), memory) == []
        self.call("PsSetShader", memory)

    def bind(self, *targets: Handle, depth: Handle | None = None) -> None:
        views, counts = [self.counted, self.raw], [0, KEEP]
        self.call("SetRenderTargets", targets, 8 - len(targets), depth, views, counts, 1, 1, 2)

    def seen(self) -> list[int]:
        """The pixels of the list."""
        self.call("CopyStructureCount", self.counts, 0, self.counted)
        return self.words(self.list)[: self.words(self.counts)[0]]


@pytest.mark.parametrize("name", ENGINES)
def test_pixels_write_primitive_after_primitive(name: str) -> None:
    driven = Acting(adapter=Adapter(Gpu(run=engine(name)), checking=True))
    driven.bind(driven.view)
    driven.call("Draw", 4, 0)
    found = driven.seen()
    assert sorted(found) == list(range(256))
    first = [n for n in range(256) if n % 16 + n // 16 < 15]
    assert sorted(found[: len(first)]) == first
    assert driven.filled == 256
    assert driven.device.statistics().PSInvocations == 256


def test_the_checking_engine_agrees_and_leaves_memory_once() -> None:
    driven = Acting(adapter=Adapter(Gpu(run=engine("checked")), checking=True))
    driven.bind(driven.view)
    driven.call("Draw", 4, 0)
    assert sorted(driven.seen()) == list(range(256))


def test_pixels_write_without_any_target() -> None:
    driven = Acting()
    driven.bind()
    driven.call("Draw", 4, 0)
    assert sorted(driven.seen()) == list(range(256))


def test_views_that_are_not_given_again_are_not_bound() -> None:
    driven = Acting()
    driven.bind(driven.view)
    driven.call("SetRenderTargets", [driven.view], 7, None)
    driven.call("Draw", 4, 0)
    assert driven.seen() == []


NEVER = DepthStencilDesc(DepthEnable=1, DepthFunc=1)


def test_what_depth_hides_writes_unless_tests_come_first() -> None:
    for declarations, seen in (("", 256), ("dcl_globalFlags forceEarlyDepthStencil", 0)):
        driven = Acting(declarations=declarations, depth=NEVER)
        driven.bind(driven.view, depth=driven.deep_view)
        driven.call("Draw", 4, 0)
        assert len(driven.seen()) == seen
        assert driven.filled == 0


def test_pixels_that_are_hidden_by_later_ones_write_too() -> None:
    for declarations in ("", "dcl_globalFlags forceEarlyDepthStencil"):
        driven = Acting(declarations=declarations)
        driven.vertices([*strip(RED), *strip(RED)])
        driven.call("IaSetTopology", 5)
        driven.bind(driven.view)
        driven.call("Draw", 8, 0)
        assert len(driven.seen()) >= 512


DROPPED = f"""ftou r2.x, v0.x
and r2.x, r2.x, l(1)
store_raw u2.x, l(0), l(7)
discard_nz r2.x
{SEEN}"""


@pytest.mark.parametrize("declarations", ["", "dcl_globalFlags forceEarlyDepthStencil"])
def test_dropped_pixels_write_no_more(declarations: str) -> None:
    driven = Acting(DROPPED, declarations)
    driven.bind(driven.view)
    driven.call("Draw", 4, 0)
    assert sorted(driven.seen()) == [n for n in range(256) if n % 2 == 0]
    assert driven.words(driven.other)[0] == 7
    assert driven.filled == 128


SLOPED = f"""deriv_rtx r3.x, v0.x
ftou r3.x, r3.x
atomic_iadd u2, l(4), r3.x
{SEEN}"""


def test_pixels_that_only_complete_quads_do_not_write() -> None:
    driven = Acting(SLOPED)
    driven.bind(driven.view)
    driven.call("IaSetTopology", 4)
    driven.call("Draw", 3, 0)
    found = driven.seen()
    assert sorted(found) == [n for n in range(256) if n % 16 + n // 16 < 15]
    assert driven.words(driven.other)[1] == len(found)


def test_a_multisampled_pixel_writes_once() -> None:
    driven = Acting(samples=4)
    driven.bind(driven.view)
    driven.call("Draw", 4, 0)
    found = driven.seen()
    assert set(found) == set(range(256))
    assert len(found) == 256 + 15 + 1


# Other interfaces, and what is recorded


def test_only_direct3d_11_computes() -> None:
    for interface in (Interface.D3D10_0, Interface.D3D10_1):
        assert "Dispatch" not in Driven(interface=interface).device.functions


def test_recorded_shaders_compute() -> None:
    driven = Computing()
    buffer = driven.unordered_buffer(1024)
    memory = bytearray(driven.device.functions["CalcPrivateShaderSize"](b""))
    driven.call("CreateComputeShader", tokens("cs5_fill"), memory)
    driven.call("CsSetShader", memory)
    driven.call("CsSetUnorderedAccessViews", 0, [driven.view(buffer, 1024)], [KEEP])
    driven.call("Dispatch", 2, 3, 1)
    rows = np.array(driven.words(buffer)).reshape(16, 64)
    wanted = np.zeros((16, 64), np.int64)
    wanted[:12, :16] = np.arange(16) * 1000 + np.arange(12)[:, None]
    assert (rows == wanted).all()


# Loops that end by the size of what is bound

SIZED = """bufinfo r0.x, u2.xyzw
mov r0.y, l(0)
loop
uge r0.z, r0.y, r0.x
breakc_nz r0.z
iadd r0.w, r0.y, l(7)
store_raw u2.x, r0.y, r0.w
iadd r0.y, r0.y, l(4)
endloop
mov o0.xyzw, l(1.0, 0, 0, 1.0)"""


@pytest.mark.parametrize("name", [*ENGINES, "checked"])
def test_a_loop_over_a_buffer_is_within_the_limits(name: str) -> None:
    gpu = Gpu(run=engine(name))
    driven = Acting(SIZED, adapter=Adapter(gpu, checking=True))
    driven.bind(driven.view)
    driven.call("Draw", 4, 0)
    assert driven.words(driven.other) == [4 * n + 7 for n in range(64)]
    assert driven.filled == 256
    assert gpu.counters.unordered_bytes == 4 * 64 * 256


@pytest.mark.parametrize("name", ENGINES)
def test_a_loop_over_what_is_not_bound_does_nothing(name: str) -> None:
    driven = Acting(SIZED, adapter=Adapter(Gpu(run=engine(name)), checking=True))
    driven.call("SetRenderTargets", [driven.view], 7, None)
    driven.call("Draw", 4, 0)
    assert driven.words(driven.other) == [0] * 64
    assert driven.filled == 256


def test_a_loop_whose_end_is_loaded_counts_as_endless() -> None:
    body = SIZED.replace("bufinfo r0.x, u2.xyzw", "ld_raw r0.x, l(0), u2.xxxx")
    driven = Acting(body, adapter=Adapter(Gpu(), checking=True))
    driven.bind(driven.view)
    with pytest.raises(Exceeded, match="call_instructions"):
        driven.call("Draw", 4, 0)
        driven.call("Flush")
