"""Dispatches: who runs, in which order, with which memory, on both engines."""

from __future__ import annotations

from itertools import accumulate
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import TextureBinding
from dp2emu.gpu.command.packets import Dispatch, Unordered
from dp2emu.gpu.command.post_vertex_stages import StageProgram
from dp2emu.gpu.compute_shader import dispatch
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import by_work
from dp2emu.gpu.resource.heap import Surface, SurfaceDesc, SurfaceKind
from dp2emu.gpu.resource.resource_views import buffer_view, structured_view
from dp2emu.gpu.shader_resources.unordered_access import in_any_order
from dp2emu.limits import UNLIMITED
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4 import assemble, decode
from dp2emu.shader.sm4.lower import Lowered4, lower
from dp2emu.shader.texture.records import SamplerKey
from tests.shader.engines import ENGINES

Words = NDArray[np.int32]
Group = tuple[int, int, int]

RUNS = pytest.mark.parametrize("run", ENGINES.values(), ids=ENGINES.keys())


def compiled(body: str, group: Group, declarations: str = "") -> Lowered4:
    threads = ", ".join(map(str, group))
    head = f"cs_5_0\n{declarations}\ndcl_temps 8\ndcl_thread_group {threads}\n"
    return lower(decode(assemble(f"{head}{body}\nret\n")))


class Computing:
    """A GPU with raw buffers u0 and on, and a counted one of structures of 4 bytes at u4."""

    def __init__(self, run: Any, sizes: tuple[int, ...] = (256,)) -> None:
        self.gpu = Gpu(by_work(), UNLIMITED, run)
        self.buffers = [self._buffer(size) for size in sizes]
        self.counter = self._buffer(4)
        self.counted = self._buffer(256)

    def _buffer(self, size: int) -> Surface:
        return self.gpu.heap.make(SurfaceDesc(0, SurfaceKind.MEMORY, size))

    def run(self, shader: Lowered4, groups: Group = (1, 1, 1), **fields: Any) -> Words:
        bound = {
            number: Unordered(
                buffer_view(buffer, DxgiFormat.R32_UINT, 0, buffer.width // 4),
                Dimension.RAW_BUFFER,
            )
            for number, buffer in enumerate(self.buffers)
        }
        view = structured_view(self.counted, 4, 0, self.counted.width // 4)
        bound[4] = Unordered(view, Dimension.STRUCTURED_BUFFER, 4, self.counter)
        stage = StageProgram(shader.program)
        self.gpu.submit(
            Dispatch(stage, shader.memory_operations, shader.shared, shader.threads, groups,
                     fields.pop("unordered", bound), **fields)
        )  # fmt: skip
        self.gpu.finish()
        return self.buffers[0].words


# Who runs

IDS = """dcl_uav_raw u0
dcl_input vThreadID.xyz
dcl_input vThreadGroupID.xyz
dcl_input vThreadIDInGroup.xyz
dcl_input vThreadIDInGroupFlattened"""


@RUNS
@pytest.mark.parametrize(("groups", "group"), [((2, 3, 2), (2, 1, 2)), ((1, 1, 3), (1, 4, 1))])
def test_threads_know_where_they_are(run: Any, groups: Group, group: Group) -> None:
    found = Computing(run, (4096,))
    # Every thread puts its numbers where its place among all threads says.
    body = f"""
imad r0.x, vThreadID.z, l({groups[1] * group[1]}), vThreadID.y
imad r0.x, r0.x, l({groups[0] * group[0]}), vThreadID.x
ishl r0.x, r0.x, l(4)
imad r1.x, vThreadIDInGroup.z, l(64), vThreadIDInGroup.y
imad r1.x, r1.x, l(64), vThreadIDInGroup.x
imad r1.y, vThreadGroupID.z, l(64), vThreadGroupID.y
imad r1.y, r1.y, l(64), vThreadGroupID.x
mov r1.z, vThreadIDInGroupFlattened.x
iadd r1.w, vThreadID.x, l(1)
store_raw u0.xyzw, r0.x, r1.xyzw"""
    words = found.run(compiled(body, group, IDS), groups)
    rows = words[: 4 * np.prod(groups) * np.prod(group)].reshape(-1, 4).tolist()
    sides = [count * size for count, size in zip(groups, group, strict=True)]
    for number, row in enumerate(rows):
        x, y, z = number % sides[0], number // sides[0] % sides[1], number // sides[0] // sides[1]
        inner = [at % size for at, size in zip((x, y, z), group, strict=True)]
        outer = [at // size for at, size in zip((x, y, z), group, strict=True)]
        flat = (inner[2] * group[1] + inner[1]) * group[0] + inner[0]
        told = [(each[2] * 64 + each[1]) * 64 + each[0] for each in (inner, outer)]
        assert row == [*told, flat, x + 1]


APPEND = """dcl_uav_raw u0
dcl_uav_structured_opc u4, 4
dcl_input vThreadID.xyz
dcl_input vThreadGroupID.xyz"""


@RUNS
def test_groups_run_in_order_x_first_and_threads_in_order_of_their_numbers(run: Any) -> None:
    found = Computing(run)
    body = """imm_atomic_alloc r0.x, u4
imad r0.y, vThreadGroupID.z, l(10), vThreadGroupID.y
imad r0.y, r0.y, l(10), vThreadGroupID.x
imad r0.y, r0.y, l(10), vThreadID.y
store_structured u4.x, r0.x, l(0), r0.y"""
    found.run(compiled(body, (1, 2, 1), APPEND), (2, 2, 2))
    wanted = [
        ((z * 10 + y) * 10 + x) * 10 + 2 * y + thread
        for z in range(2)
        for y in range(2)
        for x in range(2)
        for thread in range(2)
    ]
    assert found.counted.words[:16].tolist() == wanted
    assert found.counter.words[0] == 16


@RUNS
def test_a_group_is_done_before_the_next_begins(run: Any) -> None:
    """What the first statement of a group finds was left by the last of the one before."""
    found = Computing(run)
    body = """imm_atomic_iadd r0.x, u0, l(0), l(1)
imm_atomic_iadd r0.y, u0, l(0), l(100)
ishl r1.x, vThreadID.x, l(3)
iadd r1.x, r1.x, l(16)
store_raw u0.xy, r1.x, r0.xyxx"""
    words = found.run(compiled(body, (2, 1, 1), APPEND), (2, 1, 1))
    assert words[4:12].tolist() == [0, 2, 1, 102, 202, 204, 203, 304]


@RUNS
def test_nothing_runs_without_groups(run: Any) -> None:
    found = Computing(run)
    body = "atomic_iadd u0, l(0), l(1)"
    assert not found.run(compiled(body, (1, 1, 1), APPEND), (0, 3, 3)).any()
    assert found.gpu.counters.threads == 0


@RUNS
def test_threads_and_bytes_are_counted_and_take_time(run: Any) -> None:
    found = Computing(run)
    body = "store_raw u0.x, l(0), l(1)"
    before = found.gpu.now
    found.run(compiled(body, (4, 2, 1), APPEND), (3, 1, 1))
    counters = found.gpu.counters
    assert (counters.threads, counters.unordered_bytes) == (24, 96)
    assert counters.other_ticks == 24 // 4 + 96 // 16
    assert found.gpu.now == before + counters.busy_ticks


@RUNS
def test_numbers_of_groups_may_be_in_a_buffer(run: Any) -> None:
    found = Computing(run, (256, 64))
    found.buffers[1].words[2:5] = (3, 1, 2)
    body = "atomic_iadd u0, l(4), l(1)"
    shader = compiled(body, (2, 1, 1), APPEND)
    assert found.run(shader, (0, 0, 0), arguments=(found.buffers[1], 8))[1] == 12
    # What is behind the end of the buffer is 0.
    found.run(shader, (0, 0, 0), arguments=(found.buffers[1], 60))
    assert found.buffers[0].words[1] == 12


def test_more_threads_than_there_can_be_are_refused() -> None:
    found = Computing(next(iter(ENGINES.values())))
    shader = compiled("store_raw u0.x, l(0), l(1)", (1024, 1, 1), APPEND)
    with pytest.raises(Unsupported, match="1,000,000 groups of 1,024 threads"):
        found.run(shader, (1000, 1000, 1))


@RUNS
def test_dispatches_come_to_an_end(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "MOST_ACCESSES", 1000)
    body = "loop\natomic_iadd u0, l(0), l(1)\nstore_raw u0.x, l(4), l(1)\nendloop"
    shader = compiled(body, (1, 1, 1), APPEND)
    with pytest.raises(Unsupported, match="so many accesses"):
        Computing(run).run(shader, (60000, 1, 1))


# Memory of a group

SHARED = """dcl_uav_raw u0
dcl_resource_raw t0
dcl_input vThreadID.x
dcl_input vThreadGroupID.x
dcl_input vThreadIDInGroup.x
dcl_tgsm_structured g0, 4, 8
dcl_tgsm_raw g1, 64"""

LOAD = """ishl r0.x, vThreadID.x, l(2)
ld_raw r0.y, r0.x, t0.xxxx"""


def run_on(run: Any, body: str, group: int, groups: int, data: list[int]) -> Words:
    """u0 after a program that reads the data as t0."""
    found = Computing(run, (1024,))
    shader = compiled(body, (group, 1, 1), SHARED)
    surface = found.gpu.heap.make(SurfaceDesc(0, SurfaceKind.MEMORY, 4 * len(data)))
    surface.words[:] = data
    view = buffer_view(surface, DxgiFormat.R32_UINT, 0, len(data))
    key = SamplerKey(TextureKind.TEX2D, DxgiFormat.R32_UINT)
    numbers = [n for n, unit in enumerate(shader.units) if unit.resource == 0]
    stage = StageProgram(
        shader.program,
        textures={n: TextureBinding(view) for n in numbers},
        samplers=tuple((n, key) for n in numbers),
        units=shader.units,
    )
    u0 = Unordered(buffer_view(found.buffers[0], DxgiFormat.R32_UINT, 0, 256),
                   Dimension.RAW_BUFFER)  # fmt: skip
    found.gpu.submit(
        Dispatch(
            stage, shader.memory_operations, shader.shared, shader.threads, (groups, 1, 1), {0: u0}
        )
    )
    found.gpu.finish()
    return found.buffers[0].words


REDUCTION = f"""{LOAD}
store_structured g0.x, vThreadIDInGroup.x, l(0), r0.y
sync_g_t
mov r1.x, l(4)
loop
  uge r1.y, l(0), r1.x
  breakc_nz r1.y
  ult r1.z, vThreadIDInGroup.x, r1.x
  if_nz r1.z
    iadd r2.x, vThreadIDInGroup.x, r1.x
    ld_structured r2.y, r2.x, l(0), g0.xxxx
    ld_structured r2.z, vThreadIDInGroup.x, l(0), g0.xxxx
    iadd r2.y, r2.y, r2.z
    store_structured g0.x, vThreadIDInGroup.x, l(0), r2.y
  endif
  sync_g_t
  ushr r1.x, r1.x, l(1)
endloop
ieq r3.x, vThreadIDInGroup.x, l(0)
if_nz r3.x
  ishl r3.y, vThreadGroupID.x, l(2)
  ld_structured r3.z, l(0), l(0), g0.xxxx
  store_raw u0.x, r3.y, r3.z
endif"""


@RUNS
def test_a_reduction_adds_up_each_group(run: Any) -> None:
    data = [Random(1).randrange(1000) for _ in range(64)]
    words = run_on(run, REDUCTION, 8, 8, data)
    assert words[:8].tolist() == [sum(data[8 * n : 8 * n + 8]) for n in range(8)]


HISTOGRAM = f"""{LOAD}
and r0.z, r0.y, l(7)
ishl r0.w, r0.z, l(2)
atomic_iadd g1, r0.w, l(1)
sync_g_t
ishl r1.x, vThreadIDInGroup.x, l(2)
ld_raw r1.y, r1.x, g1.xxxx
atomic_iadd u0, r1.x, r1.y"""


@RUNS
def test_a_histogram_counts_in_groups_and_then_in_memory(run: Any) -> None:
    data = [Random(2).randrange(1 << 20) for _ in range(64)]
    words = run_on(run, HISTOGRAM, 8, 8, data)
    assert words[:8].tolist() == [sum(each & 7 == n for each in data) for n in range(8)]


PREFIX = f"""{LOAD}
store_structured g0.x, vThreadIDInGroup.x, l(0), r0.y
sync_g_t
mov r1.x, l(1)
loop
  uge r1.y, r1.x, l(8)
  breakc_nz r1.y
  mov r2.y, l(0)
  uge r1.z, vThreadIDInGroup.x, r1.x
  if_nz r1.z
    iadd r2.x, vThreadIDInGroup.x, -r1.x
    ld_structured r2.y, r2.x, l(0), g0.xxxx
  endif
  sync_g_t
  ld_structured r2.z, vThreadIDInGroup.x, l(0), g0.xxxx
  iadd r2.y, r2.y, r2.z
  store_structured g0.x, vThreadIDInGroup.x, l(0), r2.y
  sync_g_t
  ishl r1.x, r1.x, l(1)
endloop
ld_structured r3.x, vThreadIDInGroup.x, l(0), g0.xxxx
store_raw u0.x, r0.x, r3.x"""


@RUNS
def test_prefix_sums_are_those_of_their_group(run: Any) -> None:
    data = [Random(3).randrange(1000) for _ in range(32)]
    words = run_on(run, PREFIX, 8, 4, data)
    wanted = [each for n in range(4) for each in accumulate(data[8 * n : 8 * n + 8])]
    assert words[:32].tolist() == wanted


@RUNS
def test_memory_of_a_group_begins_as_zeros_and_is_its_own(run: Any) -> None:
    body = """imm_atomic_iadd r0.x, g1, l(0), l(1)
ishl r0.y, vThreadID.x, l(2)
store_raw u0.x, r0.y, r0.x"""
    assert run_on(run, body, 4, 3, [0])[:12].tolist() == [0, 1, 2, 3] * 3


# Groups side by side


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("store_raw u0.x, l(0), l(1)", True),
        ("store_raw u0.x, l(0), l(1)\nstore_raw u0.x, l(4), l(1)", False),
        ("store_raw u0.x, l(0), l(1)\nstore_raw u1.x, l(4), l(1)", True),
        ("ld_raw r0.x, l(0), u0.xxxx\nld_raw r0.y, l(4), u0.xxxx", True),
        ("ld_raw r0.x, l(0), u0.xxxx\nstore_raw u0.x, l(0), r0.x", False),
        ("atomic_iadd u0, l(0), l(1)\natomic_iadd u0, l(0), l(2)", True),
        ("atomic_iadd u0, l(0), l(1)\natomic_or u0, l(0), l(2)", False),
        ("imm_atomic_iadd r0.x, u0, l(0), l(1)\natomic_iadd u0, l(0), l(2)", False),
        ("atomic_cmp_store u0, l(0), l(1), l(2)\natomic_cmp_store u0, l(4), l(1), l(2)", False),
        ("imm_atomic_alloc r0.x, u4\nstore_structured u4.x, r0.x, l(0), l(1)", True),
        ("loop\nbreakc_nz l(1)\nstore_raw u0.x, l(0), l(1)\nendloop", False),
        ("loop\nbreakc_nz l(1)\natomic_umax u0, l(0), l(1)\nendloop", True),
        ("bufinfo r0.x, u0.xxxx\nstore_raw u0.x, l(0), r0.x", True),
    ],
)
def test_groups_run_side_by_side_only_if_nobody_can_tell(body: str, expected: bool) -> None:
    shader = compiled(body, (1, 1, 1), f"{APPEND}\ndcl_uav_raw u1")
    same = ((0, 0), (1, 1), (4, 4))
    assert in_any_order(shader.program, shader.memory_operations, same, False) is expected


def test_views_of_the_same_memory_count_as_one() -> None:
    body = "store_raw u0.x, l(0), l(1)\nstore_raw u1.x, l(4), l(1)"
    shader = compiled(body, (1, 1, 1), f"{APPEND}\ndcl_uav_raw u1")
    assert not in_any_order(shader.program, shader.memory_operations, ((0, 0), (1, 0)), False)
    one = compiled("store_raw u0.x, l(0), l(1)", (1, 1, 1), APPEND)
    assert not in_any_order(one.program, one.memory_operations, ((0, 0),), True)


MANY = """dcl_uav_raw u0
dcl_uav_raw u1
dcl_uav_raw u2
dcl_uav_structured_opc u4, 4
dcl_input vThreadID.x
dcl_tgsm_raw g1, 64"""


@RUNS
def test_groups_that_share_much_run_in_smaller_numbers(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "WORDS", 3 * 16)
    sizes: list[int] = []
    running = dispatch.Accesses

    def counted(*arguments: Any, **more: Any) -> Any:
        sizes.append(arguments[2])
        return running(*arguments, **more)

    monkeypatch.setattr(dispatch, "Accesses", counted)
    body = """imm_atomic_iadd r0.x, g1, l(0), l(1)
ishl r0.y, vThreadID.x, l(2)
store_raw u0.x, r0.y, r0.x"""
    found = Computing(run)
    words = found.run(compiled(body, (2, 1, 1), MANY), (8, 1, 1))
    assert words[:16].tolist() == [0, 1] * 8
    assert sizes == [6, 6, 4]


OPERATIONS = (
    "store_raw u{u}.x, {at}, {value}",
    "ld_raw r2.x, {at}, u{u}.xxxx",
    "atomic_iadd u{u}, {at}, {value}",
    "imm_atomic_umax r2.x, u{u}, {at}, {value}",
    "atomic_xor u{u}, {at}, {value}",
    "imm_atomic_exch r2.x, u{u}, {at}, {value}",
    "imm_atomic_cmp_exch r2.x, u{u}, {at}, r2.x, {value}",
    "atomic_iadd g1, {at}, {value}",
    "ld_raw r2.x, {at}, g1.xxxx",
    "imm_atomic_alloc r2.x, u4",
    "imm_atomic_consume r2.x, u4",
)


def _chance(random: Random) -> str:
    """A few accesses to few words."""
    lines = ["iadd r0.x, vThreadID.x, l(1)", "and r1.x, r0.x, l(3)", "ishl r1.x, r1.x, l(2)"]
    for _ in range(random.randrange(1, 4)):
        at = random.choice(["r1.x", "l(4)", "r2.x"])
        value = random.choice(["r0.x", "r2.x", "l(7)"])
        line = random.choice(OPERATIONS).format(u=random.randrange(2), at=at, value=value)
        lines.append(f"if_nz r1.x\n{line}\nendif" if random.random() < 0.3 else line)
    return "\n".join([*lines, "ishl r3.x, vThreadID.x, l(2)", "store_raw u2.x, r3.x, r2.x"])


@pytest.mark.parametrize("seed", range(40))
def test_side_by_side_comes_to_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shader = compiled(_chance(Random(seed)), (3, 1, 1), MANY)
    found = []
    for run in ENGINES.values():
        for together in (dispatch.LANES, 1):
            monkeypatch.setattr(dispatch, "LANES", together)
            made = Computing(run, (64, 64, 256))
            made.run(shader, (5, 1, 1))
            held = (*made.buffers, made.counter, made.counted)
            found.append([each.data.tobytes() for each in held])
    assert all(each == found[0] for each in found)
