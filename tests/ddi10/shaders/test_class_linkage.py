"""Shaders with interfaces through the entries: class instances are resolved when it is bound."""

from __future__ import annotations

import struct

import pytest

from dp2emu.capture.recorder import Recorder
from dp2emu.capture.records import Record
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.shaders.stages import PointerData
from dp2emu.errors import ContractError, ShaderError, Unsupported
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.runtime10 import DriverDevice
from dp2emu.runtime10.signatures import Code
from dp2emu.runtime10.streamout import StreamDeclaration
from dp2emu.shader.engines import engine
from dp2emu.shader.sm4 import assemble
from tests.capture.samples import sealed
from tests.ddi10.draws.test_dispatch import KEEP, RAW, Computing, Handle
from tests.ddi10.rendering import GREEN, RED, Drawing
from tests.replay.running import Run
from tests.shader.engines import ENGINES

TABLES = """dcl_function_body fb0
dcl_function_body fb1
dcl_function_table ft0, 1 { 0 }
dcl_function_table ft1, 1 { 1 }
dcl_interface fp0, immediateIndexed, 1 { 65538, 0, 1 }"""
BODIES = """ret
label fb0
iadd r0.xyzw, cb[this0.x + 0][this0.y + 0].xyzw, l(1, 1, 1, 1)
ret
label fb1
imul null, r0.xyzw, cb[this0.x + 0][this0.y + 1].xyzw, l(2, 2, 2, 2)"""


def program(body: str = "", bodies: str = BODIES) -> bytes:
    text = f"""cs_5_0
{TABLES}
dcl_uav_raw u0
dcl_temps 2
dcl_thread_group 1, 1, 1
fcall 0, fp0[0]
{body}
store_raw u0.xyzw, l(0), r0.xyzw
{bodies}
ret
"""
    return assemble(text)


def created(driven: Computing, code: bytes) -> bytearray:
    memory = bytearray(driven.device.functions["CalcPrivateShaderSize"](b""))
    driven.call("CreateComputeShader", code, memory)
    return memory


def computing(name: str) -> tuple[Computing, Handle]:
    driven = Computing(adapter=Adapter(Gpu(run=engine(name)), checking=True))
    buffer = driven.unordered_buffer()
    driven.call("CsSetUnorderedAccessViews", 0, [driven.view(buffer, flags=RAW)], [KEEP])
    constants = driven.buffer(struct.pack("<16I", *range(16)), BindFlag.CONSTANT_BUFFER)
    driven.call("CsSetConstantBuffers", 2, [constants])
    return driven, buffer


@pytest.mark.parametrize("name", ENGINES)
def test_class_instances_choose_functions_and_data(name: str) -> None:
    driven, buffer = computing(name)
    shader = created(driven, program())
    found = []
    for table, row in ((0, 1), (1, 1), (0, 3)):
        driven.call("CsSetShaderWithIfaces", shader, [table], [PointerData(row, 2)])
        driven.call("Dispatch", 1, 1, 1)
        found.append(driven.words(buffer)[:4])
    assert found == [[5, 6, 7, 8], [16, 18, 20, 22], [13, 14, 15, 16]]


WRONG = [
    ([], []),
    ([0], []),
    ([2], [PointerData()]),
    ([0, 0], [PointerData(), PointerData()]),
    ([0], [PointerData(4096)]),
    ([0], [PointerData(0, 16)]),
    ([0], [PointerData(0, 0, -1)]),
]


@pytest.mark.parametrize(("tables", "data"), WRONG)
def test_other_class_instances_than_the_interfaces_are_refused(
    tables: list[int], data: list[PointerData]
) -> None:
    driven = Computing()
    shader = created(driven, program())
    assert driven.refused("CsSetShaderWithIfaces", shader, tables, data) == "CLASS_INSTANCES"


def test_a_shader_with_interfaces_cannot_be_set_without_instances() -> None:
    driven = Computing()
    assert driven.refused("CsSetShader", created(driven, program())) == "CLASS_INSTANCES"


def test_a_call_of_an_interface_that_is_not_declared_is_refused_at_creation() -> None:
    with pytest.raises(ShaderError, match="fp5 is not declared"):
        created(Computing(), program("fcall 0, fp5[0]"))


def test_what_is_not_built_is_refused_at_creation() -> None:
    with pytest.raises(Unsupported, match="shader debugging"):
        created(Computing(), program("abort"))
    with pytest.raises(Unsupported, match="shader debugging"):
        created(Computing(), program(bodies=BODIES.replace("ret", "debug_break\nret")))


def test_textures_that_the_example_lacks_do_not_matter_before_an_instance_is_bound() -> None:
    driven = Computing()
    body = "ld r0.xyzw, r0.xyzw, t[this0.w + 0].xyzw"
    shader = created(driven, program(body))
    with pytest.raises(ShaderError, match="not declared"):
        driven.call("CsSetShaderWithIfaces", shader, [0], [PointerData(0, 0, 0, 5)])


PIXEL = f"""ps_5_0
{TABLES}
dcl_output o0.xyzw
dcl_temps 1
fcall 0, fp0[0]
mov o0.xyzw, r0.xyzw
ret
label fb0
mov r0.xyzw, l(1.0, 0, 0, 1.0)
ret
label fb1
mov r0.xyzw, l(0, 1.0, 0, 1.0)
ret
"""


def test_linked_shaders_are_compiled_once() -> None:
    driven = Computing()
    shader = created(driven, program())
    budget = driven.adapter.gpu.code_budget
    driven.call("CsSetShaderWithIfaces", shader, [1], [PointerData(1, 2)])
    spent = budget.spent
    driven.call("CsSetShaderWithIfaces", shader, [1], [PointerData(1, 2)])
    assert budget.spent == spent


def test_pixels_are_those_of_the_function_bound_last() -> None:
    driven = Drawing()
    memory = bytearray(driven.device.functions["CalcPrivateShaderSize"](b""))
    driven.call("CreatePixelShader", assemble(PIXEL), memory)
    driven.call("PsSetShaderWithIfaces", memory, [1], [PointerData()])
    driven.call("Draw", 4, 0)
    assert driven.drawn(GREEN).all()
    driven.call("PsSetShaderWithIfaces", memory, [0], [PointerData()])
    driven.call("Draw", 4, 0)
    assert driven.drawn(RED).all()


FUNCTIONS = """label fb0
mov r0.x, l(1.0)
ret
label fb1
mov r0.x, l(2.0)
ret
"""
HULL = f"""hs_5_0
hs_decls
dcl_input_control_point_count 3
dcl_output_control_point_count 3
dcl_tessellator_domain domain_tri
dcl_tessellator_partitioning partitioning_integer
dcl_tessellator_output_primitive output_triangle_cw
{TABLES}
hs_fork_phase
dcl_output_siv o0.x, finalTriUeq0EdgeTessFactor
dcl_temps 1
fcall 0, fp0[0]
mov o0.x, r0.x
ret
{FUNCTIONS}"""
STREAMING = f"""gs_5_0
{TABLES}
dcl_inputprimitive point
dcl_outputtopology pointlist
dcl_output o0.x
dcl_maxout 1
dcl_temps 1
fcall 0, fp0[0]
mov o0.x, r0.x
emit
ret
{FUNCTIONS}"""


def test_class_instances_of_a_capture_are_replayed() -> None:
    records: list[Record] = []
    device = DriverDevice(Recorder(Adapter(checking=True), records.append))
    for stage, code in (("Compute", program()), ("Hull", assemble(HULL))):
        shader = device.create_shader(stage, Code(code))
        entry = f"{stage[0]}sSetShaderWithIfaces"
        device.call(entry, shader.memory, [1], [PointerData(1, 2, 3, 4)])
    found = Run(file=sealed(records))
    assert found.faults == [] and found.differences == []
    assert found.tally.entries == len(records) - 1  # less the annotation of the timing


def test_a_shader_with_stream_output_has_class_instances() -> None:
    device = DriverDevice(Adapter(checking=True))
    declared = [StreamDeclaration(0, "o", 0, 0, 1, 0)]
    shader = device.create_streaming_shader(Code(assemble(STREAMING)), declared, [4])
    device.call("GsSetShaderWithIfaces", shader.memory, [1], [PointerData()])
    with pytest.raises(ContractError, match="class instances"):
        device.call("GsSetShader", shader.memory)
