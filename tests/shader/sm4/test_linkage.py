"""Class linkage: calls of interfaces and the data of class instances."""

from __future__ import annotations

import pytest

from dp2emu.errors import ShaderError, Unsupported
from dp2emu.shader.sm4 import assemble, decode, disassemble
from dp2emu.shader.sm4.linkage import Instance, first_instances, fits, interfaces_of, linked
from dp2emu.shader.sm4.lower import lower
from tests.shader.sm4.lower.running import HEAD, Surroundings, execute, words

TABLES = """dcl_function_body fb0
dcl_function_body fb1
dcl_function_body fb2
dcl_function_body fb3
dcl_function_table ft0, 2 { 0, 1 }
dcl_function_table ft1, 2 { 2, 3 }
"""
ONE = TABLES + "dcl_interface fp0, immediateIndexed, 2 { 65538, 0, 1 }"
ARRAY = TABLES + "dcl_interface fp1, dynamicIndexed, 2 { 196610, 0, 1 }"
BODIES = """ret
label fb0
mov r1.x, l(10)
ret
label fb1
mov r1.x, l(11)
ret
label fb2
mov r1.x, l(20)
ret
label fb3
mov r1.x, l(21)
"""


def text(body: str, declarations: str = ONE, bodies: str = BODIES) -> str:
    return f"vs_5_0\n{declarations}\n{HEAD}\n{body}\n{bodies}\nret\n"


def ran(source: str, *instances: Instance, **options: object) -> list[int]:
    """The bits of o0 of a program with the instances."""
    program = linked(decode(assemble(source)), instances)
    return words(execute(lower(program), **options), "o0")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("table", "site", "result"), [(0, 0, 10), (0, 1, 11), (1, 0, 20), (1, 1, 21)]
)
def test_a_call_of_an_interface_calls_the_function_of_its_table(
    table: int, site: int, result: int
) -> None:
    source = text(f"fcall {site}, fp0[0]\nmov o0.x, r1.x")
    assert ran(source, Instance(table))[0] == result


def test_the_pointer_is_the_sum_of_number_and_index() -> None:
    unused, pointers = Instance(9), (Instance(0), Instance(1), Instance(0))
    for call in ("fp1[1]", "fp2[0]"):
        source = text(f"fcall 1, {call}\nmov o0.x, r1.x", ARRAY)
        assert ran(source, unused, *pointers)[0] == 21


@pytest.mark.parametrize(("index", "result"), [(0, 10), (1, 20), (2, 10), (3, 0), (2**32 - 1, 0)])
def test_an_index_at_run_time_selects_the_pointer(index: int, result: int) -> None:
    source = text("fcall 0, fp1[v0.x + 0]\nmov o0.x, r1.x", ARRAY)
    pointers = (Instance(9), Instance(0), Instance(1), Instance(0))
    assert ran(source, *pointers, inputs={"v0.x": index})[0] == result
    moved = text("fcall 0, fp2[v0.x + 4294967295]\nmov o0.x, r1.x", ARRAY)
    assert ran(moved, *pointers, inputs={"v0.x": index})[0] == result


def test_this_is_the_place_of_the_data() -> None:
    source = text("mov o0.xyzw, this0.xyzw\nmov o0.y, -this0.z")
    assert ran(source, Instance(0, 3, 40, 5, 6)) == [3, 5 ^ 0x80000000, 5, 6]


def test_constants_of_an_instance_are_in_its_buffer_from_its_row_on() -> None:
    source = text("mov o0.xy, cb[this0.x + 1][this0.y + 2].zwxx")
    constants = {"cb4": [*range(100, 140)]}
    assert ran(source, Instance(0, 3, 5), uniforms=constants)[:2] == [130, 131]


def test_textures_and_samplers_of_an_instance_begin_at_its_own() -> None:
    declared = ONE + (
        "\ndcl_sampler s3, mode_default\ndcl_resource_buffer (uint,uint,uint,uint) t6"
        "\ndcl_resource_texture2d (float,float,float,float) t7"
    )
    around = Surroundings()
    body = "sample_l r0.xyzw, v0.xyxx, t[this0.w + 2].xyzw, s[this0.z + 1], l(0)"
    body += "\nld r2.x, v0.xxxx, t[this0.w + 1].xyzw\nadd o0.x, r0.x, r2.x"
    program = linked(decode(assemble(text(body, declared))), [Instance(0, 0, 0, 2, 5)])
    found = lower(program)
    execute(found, around=around)
    numbers = {unit.resource for unit in found.units}
    assert numbers >= {6, 7}


def test_the_text_of_linked_operands_is_assembled_again() -> None:
    code = assemble(text("mov o0.xy, cb[this0.x + 1][this0.y + 2].zwxx"))
    assert "cb[this0.x + 1][this0.y + 2].zwxx" in disassemble(code)
    assert assemble(disassemble(code)) == code


REFUSED = [
    ("fcall 0, fp3[0]", ONE, "fp3 is not declared"),
    ("fcall 0, fp0[1]", ONE, "fp1 has no class instance"),
    ("fcall 2, fp0[0]", ONE, "ft0 has no function 2"),
    ("fcall 0, fp0[0]", ONE.replace("65538, 0, 1", "65538, 1, 2"), "fp0 has no function table"),
    ("fcall 0, fp0[0]", ONE.replace("65538, 0, 1", "65539, 0, 1"), "an interface of 1 pointers"),
    ("fcall 0, fp0[0]", ONE.replace("65538, 0, 1", "2, 0, 1"), "an interface of 0 pointers"),
    ("nop", ONE.replace("65538", str(254 << 16 | 2)), "more than 253 interface pointers"),
    ("nop", ONE + "\n" + ONE.splitlines()[-1], "fp0 is declared twice"),
    ("mov o0.x, cb[this0.x + 14][0].x", ONE, "cb has no index 16"),
    ("ld r0.x, v0.xxxx, t[this0.w + 0].xyzw", ONE, "not declared"),
]


@pytest.mark.parametrize(("body", "declarations", "message"), REFUSED)
def test_what_instances_cannot_resolve_is_refused(
    body: str, declarations: str, message: str
) -> None:
    with pytest.raises(ShaderError, match=message):
        ran(text(body, declarations), Instance(0, 2, 1, 1, 1))


def test_recursion_through_an_interface_is_refused() -> None:
    bodies = BODIES.replace("l(10)", "l(10)\nfcall 0, fp0[0]")
    with pytest.raises(ShaderError, match="fb0 calls itself"):
        ran(text("fcall 0, fp0[0]", bodies=bodies), Instance(0))


def test_call_sites_are_bounded() -> None:
    wide = ARRAY.replace("196610", str(200 << 16 | 2))
    source = text("fcall 0, fp1[v0.x + 0]\n" * 21, wide)
    with pytest.raises(ShaderError, match="more than 4096 call sites"):
        ran(source, *[Instance(0)] * 201)


def test_this_at_a_run_time_index_is_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="this indexed at run time"):
        ran(text("mov o0.x, this[v0.x + 0].y"), Instance(0))


@pytest.mark.parametrize(
    "body", ["fcall 0, fp0[0]", "mov o0.x, this0.x", "mov o0.x, cb[this0.x + 0][0].x"]
)
def test_programs_that_are_not_linked_are_refused_by_name(body: str) -> None:
    with pytest.raises(Unsupported, match="interfaces without class instances"):
        lower(decode(assemble(text(body))))


def test_only_this_indexes_registers_of_slots() -> None:
    with pytest.raises(ShaderError, match="cannot be indexed by r"):
        decode(assemble(text("mov o0.x, cb[r0.x + 0][0].x")))
    with pytest.raises(ShaderError, match="cannot be indexed by this"):
        decode(assemble(text("mov o0.x, v[this0.x + 0].x")))


def test_every_pointer_needs_an_instance_of_its_tables() -> None:
    found = interfaces_of(decode(assemble(text("nop", ARRAY))))
    assert sorted(found) == [1, 2, 3]
    assert fits(found, [Instance(7), Instance(0), Instance(1), Instance(1)])
    assert not fits(found, [Instance(0)] * 3)
    assert not fits(found, [Instance(0)] * 5)
    assert not fits(found, [Instance(0), Instance(2), Instance(0), Instance(0)])
    assert fits({}, [])


def test_an_example_of_instances_has_the_lowest_registers() -> None:
    declared = ONE + "\ndcl_constantbuffer cb3[4], dynamicIndexed\ndcl_sampler s2, mode_default"
    program = decode(assemble(text("nop", declared)))
    assert first_instances(program) == (Instance(0, 3, 0, 2, 0),)
