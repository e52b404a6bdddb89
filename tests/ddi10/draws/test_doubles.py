"""Double precision through the entries: constants, shared memory and views hold pairs of words."""

from __future__ import annotations

import struct

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.errors import ShaderError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.sm4 import assemble
from tests.ddi10.draws.test_dispatch import KEEP, RAW, STRUCTURED, Computing
from tests.shader.engines import ENGINES

FLAGS = "dcl_globalFlags enableDoublePrecisionFloatOps | enable11_1DoubleExtensions"
DECLARATIONS = f"""{FLAGS}
dcl_constantbuffer cb0[2], immediateIndexed
dcl_uav_raw u0
dcl_uav_structured u1, 16
dcl_tgsm_structured g0, 16, 4
dcl_tgsm_raw g1, 64
dcl_input vThreadIDInGroup.x
dcl_indexableTemp x0[2], 4"""
BODY = """utod r0.xy, vThreadIDInGroup.x
dfma r0.xyzw, r0.xyxy, cb0[0].xyzw, cb0[1].xyzw
store_structured g0.xyzw, vThreadIDInGroup.x, l(0), r0.xyzw
sync_g_t
iadd r1.x, vThreadIDInGroup.x, l(1)
and r1.x, r1.x, l(3)
ld_structured r2.xyzw, r1.x, l(0), g0.xyzw
ishl r1.y, vThreadIDInGroup.x, l(4)
store_raw g1.xy, r1.y, r2.zwxy
ld_raw r3.xy, r1.y, g1.xyxx
dmov x0[1].xyzw, r2.zwxy
ddiv r2.xyzw, x0[1].zwxy, r3.xyxy
store_raw u0.xyzw, r1.y, r2.xyzw
store_structured u1.xyzw, vThreadIDInGroup.x, l(0), r0.xyzw"""


@pytest.mark.parametrize("engine", ENGINES)
def test_memory_holds_doubles_as_pairs_of_words(engine: str) -> None:
    driven = Computing(adapter=Adapter(Gpu(run=ENGINES[engine]), checking=True))
    raw, structures = driven.unordered_buffer(16), driven.unordered_buffer(16, stride=16)
    driven.shader(BODY, DECLARATIONS, "4, 1, 1")
    constants = driven.buffer(struct.pack("<4d", 0.1, 3, 1e-300, 7), BindFlag.CONSTANT_BUFFER)
    driven.call("CsSetConstantBuffers", 0, [constants])
    views = [driven.view(raw, flags=RAW), driven.view(structures, 4, format=STRUCTURED)]
    driven.call("CsSetUnorderedAccessViews", 0, views, [KEEP, KEEP])
    driven.call("Dispatch", 1, 1, 1)
    rows = [(0.1 * n + 1e-300, 3.0 * n + 7) for n in range(4)]
    ratios = [(x / y, y / y) for x, y in (rows[(n + 1) % 4] for n in range(4))]
    for buffer, wanted in ((structures, rows), (raw, ratios)):
        data = struct.pack("<16I", *driven.words(buffer))
        assert list(struct.iter_unpack("<2d", data)) == wanted


HEADS = {
    "Geometry": "dcl_inputprimitive point\ndcl_outputtopology pointlist\ndcl_maxout 1\n",
    "Compute": "dcl_thread_group 1, 1, 1\n",
}


@pytest.mark.parametrize("entry", ["Vertex", "Pixel", "Geometry", "Domain", "Compute"])
def test_creation_of_a_shader_without_the_flag_names_it(entry: str) -> None:
    driven = Computing()
    text = f"{entry[0].lower()}s_5_0\ndcl_temps 1\n{HEADS.get(entry, '')}dadd r0.xy, r0, r0\nret\n"
    memory = bytearray(driven.device.functions["CalcPrivateShaderSize"](b""))
    with pytest.raises(ShaderError, match="dadd of doubles without the flag enableDouble"):
        driven.call(f"Create{entry}Shader", assemble(text), memory)
