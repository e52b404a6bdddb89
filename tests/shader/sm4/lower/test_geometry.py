"""What geometry shaders take in and put out, against a list of what they emit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.errors import ShaderError
from dp2emu.shader.ports import STARTS
from dp2emu.shader.reference import Result
from dp2emu.shader.sm4.enums import Primitive, Topology
from dp2emu.shader.sm4.lower import Emission
from tests.shader.sm4.lower.running import execute, lowered

HEAD = """gs_4_0
dcl_input v[{vertices}][0].xyzw
dcl_input v[{vertices}][2].xy
dcl_temps 4
dcl_inputprimitive {primitive}
dcl_outputtopology {topology}
dcl_output o0.xy
dcl_output o2.w
dcl_maxout {limit}
"""
STREAMED = """gs_5_0
dcl_temps 2
dcl_inputprimitive point
dcl_stream m0
dcl_outputtopology pointlist
dcl_output o0.x
dcl_stream m1
dcl_outputtopology pointlist
dcl_output o0.x
dcl_output o1.y
dcl_stream m3
dcl_outputtopology pointlist
dcl_output o1.y
dcl_maxout {limit}
"""

Vertex = tuple[int, bool, tuple[int, ...]]
"""Stream, whether a strip begins, and words."""


def text(
    body: str,
    primitive: str = "triangle",
    topology: str = "trianglestrip",
    limit: int = 4,
    vertices: int = 3,
) -> str:
    head = HEAD.format(vertices=vertices, primitive=primitive, topology=topology, limit=limit)
    return f"{head}{body}\nret\n"


def put_out(result: Result, words: int, lane: int = 0) -> list[Vertex]:
    """The vertices of a lane."""
    found = []
    for n in range(int(result.outputs["emitted.x"][lane])):
        mark = int(result.outputs[f"emit{n}.mark"][lane])
        values = tuple(int(result.outputs[f"emit{n}.{w}"][lane]) for w in range(words))
        found.append((mark % STARTS, mark >= STARTS, values))
    return found


def run(body: str, inputs: dict[str, Any] | None = None, **head: Any) -> list[Vertex]:
    return put_out(execute(lowered(text(body, **head)), inputs), 3)


def test_a_vertex_is_what_outputs_are_when_it_is_emitted() -> None:
    body = "mov o0.xy, l(1, 2, 3, 4)\nemit\nmov o2.w, l(5)\nemit\nmov o0.x, l(6)"
    assert run(body) == [(0, True, (1, 2, 0)), (0, False, (1, 2, 5))]


def test_a_loop_emits_what_it_left_in_the_round_before() -> None:
    body = """mov r0.x, l(0)
loop
  ige r0.y, r0.x, l(3)
  breakc_nz r0.y
  emit
  mov o0.x, r0.x
  iadd r0.x, r0.x, l(1)
endloop"""
    assert [words[0] for _, _, words in run(body)] == [0, 0, 1]


def test_cut_begins_a_strip_and_several_cuts_begin_one() -> None:
    body = "emit\nemit\ncut\ncut\nemit\nemitthencut"
    assert [starts for _, starts, _ in run(body)] == [True, False, True, False]
    assert [starts for _, starts, _ in run("emitthencut\nemit\ncut")] == [True, True]


def test_vertices_beyond_the_limit_are_lost() -> None:
    body = "\n".join(f"mov o0.x, l({n})\nemit" for n in range(7))
    assert [words[0] for _, _, words in run(body, limit=4)] == [0, 1, 2, 3]
    assert run(body, limit=0) == []


def test_lanes_emit_for_themselves() -> None:
    body = "if_nz vPrim\n mov o0.x, vPrim\n emit\nendif\nmov o0.y, l(9)\nemit"
    shader = lowered(text(body.replace("if_nz vPrim", "mov r0.x, vPrim\nif_nz r0.x")))
    result = execute(shader, {"primitive_id.x": [0, 3]}, lanes=2)
    assert put_out(result, 3, 0) == [(0, True, (0, 9, 0))]
    assert put_out(result, 3, 1) == [(0, True, (3, 0, 0)), (0, False, (3, 9, 0))]


@pytest.mark.parametrize(
    ("primitive", "vertices"),
    [("point", 1), ("line", 2), ("triangle", 3), ("lineadj", 4), ("triangleadj", 6),
     ("patch1", 1), ("patch32", 32)],
)  # fmt: skip
def test_every_vertex_of_a_primitive_is_read(primitive: str, vertices: int) -> None:
    last = vertices - 1
    body = f"mov o0.x, v[{last}][2].y\nmov o0.y, v[0][0].w\nemit"
    inputs = {f"vertex{n}.v{r}.{c}": 100 * n + 10 * r + "xyzw".index(c)
              for n in range(vertices) for r in (0, 2) for c in "xyzw"}  # fmt: skip
    found = run(body, inputs, primitive=primitive, vertices=vertices)
    assert found[0][2][:2] == (100 * last + 21, 3)


INDEXED = """mov r0.xy, l({vertex}, {register}, 0, 0)
mov o0.x, v[r0.x+{more}][r0.y].x
mov o0.y, v[r0.x+{more}][2].y
mov o2.w, v[1][r0.y].x
emit"""


@pytest.mark.parametrize("vertex", [0, 1, 2, 3, -1, 1 << 20])
@pytest.mark.parametrize("register", [0, 1, 2, 31, 32, -1])
@pytest.mark.parametrize("more", [0, 1])
def test_vertices_and_registers_are_indexed_and_what_there_is_not_is_0(
    vertex: int, register: int, more: int
) -> None:
    inputs = {f"vertex{n}.v{r}.{c}": 100 * n + 10 * r + 1 + "xyzw".index(c)
              for n in range(3) for r in (0, 2) for c in "xyzw"}  # fmt: skip

    def read(n: int, r: int, c: str) -> int:
        declared = r == 0 or (r == 2 and c in "xy")
        return 100 * n + 10 * r + 1 + "xyzw".index(c) if 0 <= n < 3 and declared else 0

    body = INDEXED.format(vertex=vertex, register=register, more=more)
    ((_, _, words),) = run(body, inputs)
    at = vertex + more
    assert words == (read(at, register, "x"), read(at, 2, "y"), read(1, register, "x"))


def test_indexed_outputs_are_emitted_too() -> None:
    body = "mov r0.x, l(2)\nmov o[r0.x+0].w, l(7)\nmov o0.xy, l(1, 2, 0, 0)\nemit"
    assert run(body) == [(0, True, (1, 2, 7))]


def test_an_instance_knows_its_number() -> None:
    head = HEAD.format(vertices=1, primitive="point", topology="pointlist", limit=2)
    head = head.replace("gs_4_0", "gs_5_0").replace("dcl_temps 4", "dcl_gsinstances 3")
    shader = lowered(f"{head}dcl_input vGSInstanceID\nmov o0.x, vGSInstanceID\nemit\nret\n")
    assert shader.emission is not None
    assert shader.emission.instances == 3
    assert put_out(execute(shader, {"gs_instance.x": 2}), 3) == [(0, True, (2, 0, 0))]


def test_what_is_declared_is_told() -> None:
    words = ((0, 0), (0, 1), (2, 3))
    wanted = Emission(Primitive.LINEADJ, 1, 4, words, ((0, Topology.LINESTRIP),))
    found = lowered(text("emit", "lineadj", "linestrip", vertices=4))
    assert found.emission == wanted
    streams = lowered(STREAMED.format(limit=2) + "emit_stream m1\nret\n").emission
    assert streams is not None
    assert streams.topologies == tuple((n, Topology.POINTLIST) for n in (0, 1, 3))
    assert streams.words == ((0, 0), (1, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dcl_inputprimitive triangle\n", ""),
        ("dcl_outputtopology trianglestrip\n", ""),
        ("dcl_maxout 4", "dcl_maxout 342"),
        ("dcl_maxout 4", "dcl_maxout 33\ndcl_gsinstances 32"),
    ],
)
def test_declarations_that_lack_something_or_say_too_much_are_refused(old: str, new: str) -> None:
    given_ = text("emit").replace("gs_4_0", "gs_5_0")
    assert old in given_
    lowered(given_)
    with pytest.raises(ShaderError, match="geometry shader"):
        lowered(given_.replace(old, new))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["emit_stream", "cut_stream", "emitthencut_stream", "o0.x", "o1.y"]),
        st.integers(0, 3),
    ),
    max_size=14,
)
OWN = {0: (True, False), 1: (True, True), 3: (False, True)}
"""Which of the two words vertices of a stream have."""


def model(steps: Sequence[tuple[str, int]], limit: int) -> list[Vertex]:
    """What is emitted, step by step."""
    registers, starting = {"o0.x": 0, "o1.y": 0}, dict.fromkeys(OWN, True)
    found: list[Vertex] = []
    for name, number in steps:
        if name in registers:
            registers[name] = number + 1
        elif number in OWN:
            if name.startswith("emit"):
                words = tuple(value if own else 0 for value, own in
                              zip(registers.values(), OWN[number], strict=True))  # fmt: skip
                found.append((number, starting[number], words))
                starting[number] = False
            if "cut" in name:
                starting[number] = True
    return found[:limit]


@settings(deadline=None, max_examples=60)
@given(STEPS, st.integers(1, 6))
def test_streams_have_vertices_and_strips_of_their_own(
    steps: list[tuple[str, int]], limit: int
) -> None:
    lines = [f"mov {name}, l({number + 1})" if name[0] == "o" else f"{name} m{number}"
             for name, number in steps]  # fmt: skip
    shader = lowered("\n".join([STREAMED.format(limit=limit), *lines, "ret", ""]))
    assert put_out(execute(shader), 2) == model(steps, limit)
