"""Hull and domain shaders by chance: both engines do the same, whatever the shaders make."""

from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums10 import OutputPrimitive, Partitioning
from dp2emu.errors import Dp2Error
from dp2emu.shader.sm4 import Instruction, assemble, decode
from dp2emu.shader.sm4.encode import instruction_words
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.versions import VERSIONS, Stage, Version
from tests.ddi10.tessellating import FACTORS, Tessellating, domain, factor_phases, hull
from tests.shader.sm4.lower.test_random import built

HULL, DOMAIN = (
    next(each for each in VERSIONS if each.stage is stage) for stage in (Stage.HULL, Stage.DOMAIN)
)
NUMBERS = st.floats(0.5, 9, width=32) | st.sampled_from([1.0, 64.0, 0.0, -1.0, float("nan")])


Instructions = tuple[Instruction, ...]


def code_of(version: Version, instructions: Instructions) -> bytes:
    words = [word for each in instructions for word in instruction_words(each)]
    return struct.pack(f"<{len(words) + 2}I", version.token, len(words) + 2, *words)


def declared(code: bytes) -> Instructions:
    """What a hull shader says before its phases."""
    instructions = decode(code).instructions
    count = next(n for n, each in enumerate(instructions) if each.op is Op.HS_FORK_PHASE)
    return instructions[:count]


def hull_by_chance(seed: int, head: Instructions, factors: Instructions) -> bytes:
    """Phases by chance, with fork phases that make the factors before any join."""
    known = {each.op for each in head}
    middle = [each for each in built(seed, HULL).instructions if each.op not in known]
    joins = [n for n, each in enumerate(middle) if each.op is Op.HS_JOIN_PHASE]
    at = joins[0] if joins else len(middle)
    return code_of(HULL, (*head, *middle[:at], *factors, *middle[at:]))


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    shape=st.sampled_from(sorted(FACTORS)),
    partitioning=st.sampled_from(Partitioning),
    output=st.sampled_from(OutputPrimitive),
    points=st.integers(1, 6),
    numbers=st.lists(NUMBERS, min_size=6, max_size=6),
)
def test_whatever_shaders_make_of_patches_both_engines_make_it(
    seed: int,
    shape: str,
    partitioning: Partitioning,
    output: OutputPrimitive,
    points: int,
    numbers: list[float],
) -> None:
    factors = numbers[: len(FACTORS[shape])]
    head = declared(
        hull(
            shape,
            factors,
            partitioning=partitioning.name.lower().removeprefix("partitioning_"),
            output=output.name.lower().removeprefix("output_"),
            takes=points,
        )
    )
    phases = assemble(f"hs_5_0\nhs_decls\n{factor_phases(shape, factors)}\n")
    code = hull_by_chance(seed, head, decode(phases).instructions[1:])
    driven = Tessellating(code, domain(points=points), points)
    if seed % 2:
        driven.call(
            "DsSetShader",
            driven.make("DomainShader", code_of(DOMAIN, built(seed, DOMAIN).instructions)),
        )
    driven.call("Draw", 24, 0)
    driven.call("Flush")
    assert driven.device.statistics().HSInvocations == 24 // points


def test_damaged_hull_shaders_are_refused_or_run() -> None:
    code = hull(
        more="hs_join_phase\ndcl_input vpc[0].x\ndcl_output o6.x\nmov o6.x, vpc[0].x\nret\n"
    )
    for at in range(8, len(code), 3):
        for bit in (1, 0x40):
            damaged = bytearray(code)
            damaged[at] ^= bit
            try:
                driven = Tessellating(bytes(damaged), domain())
            except Dp2Error:
                continue
            driven.call("Draw", 8, 0)
            driven.call("Flush")
