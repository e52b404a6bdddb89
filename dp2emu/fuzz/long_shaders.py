"""Long shaders of simple shapes: chains, nests, fan-out, many functions, many constants.

A pass over a program that is not linear in its length shows in one of them.  Shapes are texts for
the assembler, so that their code is valid.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from random import Random

from dp2emu.errors import Dp2Error
from dp2emu.shader import sm, sm4
from dp2emu.shader.files import translate
from dp2emu.shader.sm.encode import instruction_words as sm_words
from dp2emu.shader.sm.fields import END
from dp2emu.shader.sm4.encode import instruction_words as sm4_words

Shape = Callable[[Random, int], Iterator[str]]
"""Function that yields the lines of a shader in which ``n`` things are alike; parameters: random
numbers, n."""
_NESTED = 24
"""Blocks around each other: versions allow 24."""
_LABELS = 16
_CONSTANTS = 32
_CHAINED = ("mad r0, r0, c0, r1", "add r0, r0, r1", "mul r0, r0, c0", "min r0, r0, r1",
            "mov r1, r0\nmul r0, r1, r0", "dp4 r0.x, r0, r1", "rcp r0.y, r0.x",
            "mad r1, r0, c0, r1\nmad r0, r1, c0, r0")  # fmt: skip
_CHAINED4 = ("mad r0, r0, cb0[0], r1", "add r0, r0, r1", "mul r0, r0, l(0.5, 2, 1, 3)",
             "dp4 r0.x, r0, r1", "iadd r0, r0, r1", "movc r0, r1, r0, r1",
             "mov r1, r0\nmul r0, r1, r0", "sqrt r0.x, r0.x")  # fmt: skip


def chain(rng: Random, n: int) -> Iterator[str]:
    """A link needs the one before."""
    version, result = rng.choice((("ps_3_0", "oC0"), ("ps_2_0", "oC0"), ("vs_2_0", "oPos")))
    yield from (version, "def c0, 0.5, 2, -1, 3")
    links = rng.choices(_CHAINED, k=rng.choice((1, 1, 2, 4)))
    yield from links * -(-n // len(links))
    yield f"mov {result}, r0"


def fan_out(rng: Random, n: int) -> Iterator[str]:
    """A value has ``n`` uses, none of which needs another."""
    yield from ("vs_3_0", "dcl_position v0", "dcl_position o0", "mov r0, v0")
    yield from (f"mad r{1 + link % 30}, r0, c{link % 200}, r0" for link in range(n))
    yield "mov o0, r1"


def nest(rng: Random, n: int) -> Iterator[str]:
    """Blocks in blocks, one nest behind the other."""
    yield from ("vs_3_0", "dcl_position o0", "defi i0, 1, 0, 1, 0")
    deep = rng.choice((1, 4, _NESTED))
    for _ in range(-(-n // (3 * deep))):
        yield from ["if b0"] * deep
        yield "add r0, r0, c0"
        for _ in range(deep):
            yield from ("else", "mov r0, c1", "endif")
    yield "mov o0, r0"


def loops(rng: Random, n: int) -> Iterator[str]:
    """Loops one behind the other."""
    yield from ("vs_3_0", "dcl_position o0", "defi i0, 1, 0, 1, 0")
    for _ in range(-(-n // 3)):
        yield from ("rep i0", rng.choice(_CHAINED), "endrep")
    yield "mov o0, r0"


def calls(rng: Random, n: int) -> Iterator[str]:
    """Many calls of few functions, whose bodies are inserted at each."""
    yield from ("vs_2_0", "mov r0, c0")
    yield from (f"call l{link % _LABELS}" for link in range(n))
    yield from ("mov oPos, r0", "ret")
    for label in range(_LABELS):
        yield from (f"label l{label}", rng.choice(_CHAINED), "ret")


def constants(rng: Random, n: int) -> Iterator[str]:
    """Many definitions of constants, and uses of them."""
    yield "ps_3_0"
    yield from (f"def c{link % 200}, {link}, 1, 0.5, -2" for link in range(n // 2))
    yield from (f"add r{link % _CONSTANTS}, r0, c{link % 200}" for link in range(n // 2))
    yield "mov oC0, r0"


def samples(rng: Random, n: int) -> Iterator[str]:
    """Texels whose coordinates depend on others."""
    yield from ("ps_3_0", "dcl_2d s0", "dcl_texcoord v0.xy", "mov r0, v0")
    yield from ["texld r0, r0, s0"] * n
    yield "mov oC0, r0"


def chain4(rng: Random, n: int) -> Iterator[str]:
    """A chain of shader model 4."""
    yield from ("vs_4_0", "dcl_constantbuffer cb0[4], immediateIndexed", "dcl_output o0.xyzw")
    yield "dcl_temps 2"
    yield from [rng.choice(_CHAINED4)] * n
    yield from ("mov o0, r0", "ret")


def nest4(rng: Random, n: int) -> Iterator[str]:
    """Nested conditions and loops of shader model 4."""
    yield from ("ps_4_0", "dcl_output o0.xyzw", "dcl_temps 2")
    deep = rng.choice((1, 4, _NESTED))
    for _ in range(-(-n // (4 * deep))):
        for depth in range(deep):
            yield from ("loop", "breakc_nz r0.x") if depth % 4 == 3 else ("if_nz r0.x",)
        yield "add r0, r0, r1"
        for depth in reversed(range(deep)):
            yield "endloop" if depth % 4 == 3 else "endif"
    yield from ("mov o0, r0", "ret")


def switch4(rng: Random, n: int) -> Iterator[str]:
    """A switch of many cases."""
    yield from ("ps_4_0", "dcl_output o0.xyzw", "dcl_temps 2", "switch r0.x")
    for case in range(-(-n // 3)):
        yield from (f"case l({case})", rng.choice(("mov r0, r1", "add r0, r0, r1")), "break")
    yield from ("endswitch", "mov o0, r0", "ret")


def functions4(rng: Random, n: int) -> Iterator[str]:
    """Many small functions, each called once."""
    yield from ("ps_4_0", "dcl_output o0.xyzw", "dcl_temps 2")
    number = -(-n // 4)
    yield from (f"call l{label}" for label in range(number))
    yield from ("mov o0, r0", "ret")
    for label in range(number):
        yield from (f"label l{label}", rng.choice(_CHAINED4[3:]), "ret")


def constants4(rng: Random, n: int) -> Iterator[str]:
    """Immediate constants and declarations."""
    yield from ("vs_4_0", "dcl_output o0.xyzw", "dcl_temps 2")
    yield from (f"mad r0, r0, l({link}, 1, 2, 3), l(4, {link}, 5, 6)" for link in range(n))
    yield from ("mov o0, r0", "ret")


SHAPES: tuple[Shape, ...] = (
    chain, fan_out, nest, loops, calls, constants, samples, chain4, nest4, switch4, functions4,
    constants4,
)  # fmt: skip


_LIKELY = (chain, chain4) * 3
"""Shapes that are made more often: what a pass has to say of a link depends on all before it."""


def doubled_code(rng: Random, code: bytes) -> bytes | None:
    """Return valid code in which consecutive instructions of ``code`` are repeated, so that it is
    twice as long, or None if there are none that can be.
    """
    four = code[1:2] == b"\0"
    try:
        version, instructions = _decoded(code, four=four)
    except Dp2Error:
        return None
    groups = [words for words in instructions if words]
    at = rng.randrange(len(groups) or 1)
    run = groups[at : at + rng.choice((1, 1, 2, 4, 16))]
    size = 4 * sum(map(len, run))
    if not size:
        return None
    groups[at:at] = run * -(-len(code) // size)
    words = [word for group in groups for word in group]
    ends = (version, len(words) + 2, *words) if four else (version, *words, END)
    made = struct.pack(f"<{len(ends)}I", *ends)
    try:
        _decoded(made, four=four)
    except Dp2Error:
        return None
    return made


def _decoded(code: bytes, *, four: bool) -> tuple[int, list[tuple[int, ...]]]:
    """Return the version of code, and the DWORDs of each instruction.  Raises Dp2Error."""
    if four:
        program = sm4.decode(code)
        words = [tuple(sm4_words(each)) for each in program.instructions]
        return program.version.token, words
    shader = sm.decode(code)
    return shader.version.token, [sm_words(each, shader.version) for each in shader.instructions]


def long_shader(rng: Random, length: int, shape: Shape | None = None) -> bytes:
    """Return code of about ``length`` instructions, of a random shape by default."""
    likely = (*SHAPES, *_LIKELY)
    lines = (shape or rng.choice(likely))(rng, length)
    code = translate("\n".join((*lines, "")).encode(), as_text=True)
    assert isinstance(code, bytes)
    return code
