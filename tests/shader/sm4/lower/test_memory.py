"""Instructions that act on memory: which access each becomes, with which operands."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.errors import ShaderError, Unsupported
from dp2emu.shader.ir import Access, walk
from dp2emu.shader.resources import Dimension, MemoryOperation, SharedMemory
from dp2emu.shader.resources import MemoryOpcode as Op
from dp2emu.shader.sm4.lower.resources import EFFECTS, EVALUATE
from tests.shader.sm4.lower.running import PIXEL_HEAD, Surroundings, execute, lowered, ps_text

RAW, STRUCTURED = Dimension.RAW_BUFFER, Dimension.STRUCTURED_BUFFER
HEAD = """cs_5_0
dcl_uav_typed_buffer (uint,uint,uint,uint) u0
dcl_uav_raw u1
dcl_uav_structured_opc u2, 32
dcl_uav_typed_texture2darray (float,float,float,float) u3
dcl_uav_typed_texture3d (float,float,float,float) u4
dcl_uav_typed_texture1d (float,float,float,float) u5
dcl_input vThreadID.xyz
dcl_temps 4
dcl_tgsm_raw g0, 128
dcl_tgsm_structured g1, 8, 4
dcl_thread_group 4, 2, 1
"""
IDS = {"vThreadID.x": 5, "vThreadID.y": 6, "vThreadID.z": 7}
SHOW = "store_raw u1.xyzw, l(0), r0.xyzw"
"""What an instruction has put into r0 becomes the last access, behind its address."""


def accesses(body: str, head: str = HEAD) -> list[tuple[MemoryOperation, list[int]]]:
    """What is done to memory, in order.  An access gives 1005 and on for number 1, and so on."""
    shader, around = lowered(f"{head}{body}\nret\n"), Surroundings()
    execute(shader, IDS, around=around)
    return [(shader.memory_operations[unit], operands) for unit, operands in around.accesses]


def deed(act: Op, number: int, dimension: Dimension, **more: Any) -> MemoryOperation:
    return MemoryOperation(act, number, more.pop("shared", False), dimension, **more)


BUFFER, ARRAY = Dimension.BUFFER, Dimension.TEXTURE2DARRAY
LOADS = [
    ("ld_uav_typed r0.xyzw, vThreadID.xyzz, u0.xyzw", deed(Op.LOAD, 0, BUFFER), [5]),
    ("ld_uav_typed r0.xyzw, vThreadID.zyxx, u3.xyzw", deed(Op.LOAD, 3, ARRAY), [7, 6, 5]),
    ("ld_uav_typed r0.xyzw, vThreadID.xyzz, u4.xyzw",
     deed(Op.LOAD, 4, Dimension.TEXTURE3D), [5, 6, 7]),
    ("ld_uav_typed r0.xyzw, vThreadID.yxxx, u5.xyzw",
     deed(Op.LOAD, 5, Dimension.TEXTURE1D), [6]),
    ("ld_raw r0.xyzw, vThreadID.y, u1.xyzw", deed(Op.LOAD, 1, RAW), [6]),
    ("ld_structured r0.xyzw, vThreadID.y, vThreadID.x, u2.xyzw", deed(Op.LOAD, 2, STRUCTURED),
     [6, 5]),
    ("ld_raw r0.xyzw, vThreadID.y, g0.xyzw", deed(Op.LOAD, 0, RAW, shared=True), [6]),
    ("ld_structured r0.xyzw, vThreadID.y, vThreadID.x, g1.xyzw",
     deed(Op.LOAD, 1, STRUCTURED, shared=True), [6, 5]),
    ("resinfo_uint r0.xyzw, vThreadID.x, u3.xyzw", deed(Op.SIZE, 3, ARRAY), [5]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted", "operands"), LOADS, ids=lambda each: str(each)[:50])
def test_a_load_is_an_access_whose_words_are_the_result(
    text: str, wanted: MemoryOperation, operands: list[int]
) -> None:
    found, shown = accesses(f"{text}\n{SHOW}")
    assert found == (wanted, operands)
    assert shown[1] == [0, 5, 6, 7, 8]


def test_a_swizzle_of_memory_reorders_what_is_loaded() -> None:
    _, shown = accesses(f"ld_raw r0.xy, l(4), u1.wyxx\n{SHOW}")
    assert shown[1] == [0, 8, 6, 0, 0]


def test_counts_are_in_every_component() -> None:
    found, shown = accesses(f"bufinfo r0.xyzw, u1.xyzw\n{SHOW}")
    assert found == (deed(Op.COUNT, 1, RAW), [])
    assert shown[1] == [0, 5, 5, 5, 5]


def test_sizes_may_be_wanted_as_floats() -> None:
    _, shown = accesses(f"resinfo r0.xyzw, l(0), u3.xyzw\nftou r0.xyzw, r0.xyzw\n{SHOW}")
    assert shown[1] == [0, 5, 6, 7, 8]


STORES = [
    ("store_uav_typed u0.xyzw, vThreadID.xxxx, vThreadID.zyxx", deed(Op.STORE, 0, BUFFER),
     [5, 7, 6, 5, 5]),
    ("store_uav_typed u3.xyzw, vThreadID.zyxx, vThreadID.xyzz", deed(Op.STORE, 3, ARRAY),
     [7, 6, 5, 5, 6, 7, 7]),
    ("store_raw u1.x, vThreadID.y, vThreadID.z", deed(Op.STORE, 1, RAW), [6, 7]),
    ("store_raw u1.xyz, vThreadID.y, vThreadID.zyxx", deed(Op.STORE, 1, RAW), [6, 7, 6, 5]),
    ("store_structured u2.xy, vThreadID.y, l(8), vThreadID.zyxx",
     deed(Op.STORE, 2, STRUCTURED), [6, 8, 7, 6]),
    ("store_raw g0.x, vThreadID.y, vThreadID.z", deed(Op.STORE, 0, RAW, shared=True), [6, 7]),
    ("store_structured g1.x, vThreadID.y, l(4), vThreadID.z",
     deed(Op.STORE, 1, STRUCTURED, shared=True), [6, 4, 7]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted", "operands"), STORES, ids=lambda each: str(each)[:50])
def test_a_store_takes_the_components_of_its_mask(
    text: str, wanted: MemoryOperation, operands: list[int]
) -> None:
    assert accesses(text) == [(wanted, operands)]


ATOMICS = {
    "and": Op.AND,
    "or": Op.OR,
    "xor": Op.XOR,
    "iadd": Op.IADD,
    "imax": Op.IMAX,
    "imin": Op.IMIN,
    "umax": Op.UMAX,
    "umin": Op.UMIN,
}
PLACES = [
    ("u0", "vThreadID.xxxx", deed(Op.AND, 0, BUFFER), [5]),
    ("u1", "vThreadID.x", deed(Op.AND, 1, RAW), [5]),
    ("u2", "vThreadID.xyxx", deed(Op.AND, 2, STRUCTURED), [5, 6]),
    ("u3", "vThreadID.zyxx", deed(Op.AND, 3, ARRAY), [7, 6, 5]),
    ("g0", "vThreadID.x", deed(Op.AND, 0, RAW, shared=True), [5]),
    ("g1", "vThreadID.xyxx", deed(Op.AND, 1, STRUCTURED, shared=True), [5, 6]),
]


@pytest.mark.parametrize(("place", "at", "wanted", "address"), PLACES)
@pytest.mark.parametrize("name", ATOMICS)
def test_atomics_act_on_an_address_of_their_memory(
    name: str, place: str, at: str, wanted: MemoryOperation, address: list[int]
) -> None:
    plain = accesses(f"atomic_{name} {place}, {at}, vThreadID.z")
    silent = wanted._replace(opcode=ATOMICS[name], silent=True)
    assert plain == [(silent, [*address, 7])]
    told, shown = accesses(f"imm_atomic_{name} r0.x, {place}, {at}, vThreadID.z\n{SHOW}")
    assert told == (silent._replace(silent=False), [*address, 7])
    assert shown[1] == [0, 5, 0, 0, 0]


def test_exchanges_and_comparisons() -> None:
    found = accesses("atomic_cmp_store u1, l(4), vThreadID.x, vThreadID.y")
    assert found == [(deed(Op.COMPARE, 1, RAW, silent=True), [4, 5, 6])]
    body = "imm_atomic_cmp_exch r0.y, u1, l(4), vThreadID.x, vThreadID.y"
    told, shown = accesses(f"{body}\n{SHOW}")
    assert told == (deed(Op.COMPARE, 1, RAW), [4, 5, 6])
    assert shown[1] == [0, 0, 5, 0, 0]
    told, shown = accesses(f"imm_atomic_exch r0.x, u1, l(4), vThreadID.z\n{SHOW}")
    assert told == (deed(Op.EXCHANGE, 1, RAW), [4, 7])
    assert shown[1][1] == 5


def test_counters_of_views_go_up_and_down() -> None:
    up, down, shown = accesses(f"imm_atomic_alloc r0.x, u2\nimm_atomic_consume r0.y, u2\n{SHOW}")
    assert up == (deed(Op.ALLOC, 2, STRUCTURED), [])
    assert down == (deed(Op.CONSUME, 2, STRUCTURED), [])
    assert shown[1] == [0, 5, 1005, 0, 0]


def test_every_opcode_is_here() -> None:
    texts = " ".join([*(row[0] for row in (*LOADS, *STORES)), "bufinfo atomic_cmp_store",
                      *(f"atomic_{name} imm_atomic_{name}" for name in ATOMICS),
                      "imm_atomic_cmp_exch imm_atomic_exch imm_atomic_alloc",
                      "imm_atomic_consume"]).split()  # fmt: skip
    known = {op.text for op in (*EVALUATE, *EFFECTS) if set(op.row.operands) & set("uUyw")}
    assert known <= {text.removesuffix("_uint") for text in texts}


def test_reading_what_is_written_is_in_order() -> None:
    done = accesses(
        """store_raw u1.x, l(0), l(1)
sync_uglobal_g_t
ld_raw r0.x, l(0), u1.xxxx
store_raw u1.x, l(4), r0.x"""
    )
    assert [each[0].opcode for each in done] == [Op.STORE, Op.LOAD, Op.STORE]


def test_what_is_declared_is_told() -> None:
    shader = lowered(f"{HEAD}ret\n")
    assert shader.threads == (4, 2, 1)
    assert shader.shared == (SharedMemory(0, RAW, 1, 128), SharedMemory(1, STRUCTURED, 8, 4))
    assert [each.words for each in shader.shared] == [32, 8]
    assert [(each.number, each.dimension) for each in shader.unordered] == [
        (0, BUFFER),
        (1, RAW),
        (2, STRUCTURED),
        (3, ARRAY),
        (4, Dimension.TEXTURE3D),
        (5, Dimension.TEXTURE1D),
    ]
    assert shader.unordered[2].stride == 32


@pytest.mark.parametrize(
    ("register", "mask", "names"),
    [
        ("vThreadID", "xyz", ["vThreadID.x", "vThreadID.y", "vThreadID.z"]),
        ("vThreadGroupID", "y", ["vThreadGroupID.y"]),
        ("vThreadIDInGroup", "zx", ["vThreadIDInGroup.z", "vThreadIDInGroup.x"]),
        ("vThreadIDInGroupFlattened", "x", ["vThreadIDInGroupFlattened.x"]),
    ],
)
def test_numbers_of_threads_are_inputs(register: str, mask: str, names: list[str]) -> None:
    stored = "".join(f"store_raw u1.x, l(0), {register}.{each}\n" for each in mask)
    shader = lowered(f"{HEAD}{stored}ret\n")
    assert [port.name for port in shader.program.inputs] == names


def test_nothing_comes_before_a_compute_shader() -> None:
    shader = lowered(f"{HEAD}dcl_input v1.xy\nstore_raw u1.x, l(0), v1.y\nret\n")
    assert shader.program.inputs == ()


# Pixels


def test_dropped_pixels_act_no_more() -> None:
    text = ps_text(
        "store_raw u1.x, l(0), l(1)\ndiscard_nz v2.x\nstore_raw u1.x, l(4), l(2)", "dcl_uav_raw u1"
    )
    for dropped, count in ((0, 2), (1, 1)):
        around = Surroundings()
        execute(lowered(text), {"v2.x": dropped}, lanes=4, around=around)
        assert len(around.accesses) == count


def test_what_a_dropped_pixel_would_get_is_0() -> None:
    text = ps_text(
        "discard_nz v2.x\nimm_atomic_iadd r0.x, u1, l(0), l(1)\nmov o0.x, r0.x", "dcl_uav_raw u1"
    )
    for dropped, found in ((0, 5), (1, 0)):
        result = execute(lowered(text), {"v2.x": dropped}, lanes=4)
        assert result.outputs["target0.x"][0] == found


def test_without_memory_nothing_is_remembered_of_dropped_pixels() -> None:
    shader = lowered(ps_text("discard_nz v2.x"))
    assert not any(isinstance(each, Access) for each in walk(shader.program.statements))
    assert PIXEL_HEAD
    assert shader.memory_operations == ()


@pytest.mark.parametrize("version", ["vs_5_0", "gs_5_0"])
def test_other_stages_have_no_views_for_unordered_access(version: str) -> None:
    with pytest.raises((Unsupported, ShaderError)):
        lowered(f"{version}\ndcl_uav_raw u1\nret\n")
