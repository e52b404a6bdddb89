"""Vertices emitted by geometry shaders: a file of words, written to output ports at the end.

Ports, all I32: ``emitted.x`` is the number of vertices of all streams together; ``emit<n>.<w>`` is
word w of vertex n (``Emission.words``); ``emit<n>.mark`` is its stream, plus ``ports.STARTS`` if
the vertex begins a strip.  Vertices beyond the declared limit are dropped, so a program that goes
on after its last vertex gives the same result as one that ends there (SM4-5 tokens, "Geometry
shaders").
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.errors import ShaderError
from dp2emu.shader.builder import Builder
from dp2emu.shader.ports import STARTS
from dp2emu.shader.sm4.lower.declared import Declared
from dp2emu.shader.sm4.lower.lowered import Emission
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Instruction
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

MAX_WORDS = 1024
"""Maximum number of words that an instance of a geometry shader may emit (vertices * components),
and of vertices that all its instances together may emit."""
EMITS = frozenset({Op.EMIT, Op.EMIT_STREAM, Op.EMITTHENCUT, Op.EMITTHENCUT_STREAM})
CUTS = frozenset({Op.CUT, Op.CUT_STREAM, Op.EMITTHENCUT, Op.EMITTHENCUT_STREAM})


def emission_of(declared: Declared) -> Emission:
    """What a geometry shader takes and emits, from its declarations: primitive, limits, streams.

    Raises ShaderError if a declaration is missing or a limit is exceeded.
    """
    if declared.primitive is None or not declared.topologies:
        raise ShaderError("a geometry shader without its input primitive or output topology")
    words = tuple(sorted(declared.output_of))
    limit, instances = declared.vertices, declared.instances
    if limit * len(words) > MAX_WORDS or limit * instances > MAX_WORDS:
        what = f"{limit} vertices of {len(words)} words from {instances} instances"
        raise ShaderError(f"a geometry shader puts out {what}, more than {MAX_WORDS} in all")
    topologies = tuple(sorted(declared.topologies.items()))
    return Emission(declared.primitive, instances, limit, words, topologies)


class Emitter:
    """Lowers the emit and cut instructions of a geometry program.

    Mutable: it adds statements to the builder.
    """

    def __init__(
        self, b: Builder, declared: Declared, output: Callable[[int, int], Value]
    ) -> None:
        """``output(register number, component)`` returns the current value of a component of o#.

        Raises ShaderError as ``emission_of`` does.
        """
        self._b, self._output, self._declared = b, output, declared.outputs
        self.emission = emission_of(declared)
        self._stride = len(self.emission.words) + 1
        size = max(self.emission.limit * self._stride, 1)
        self._file = b.local("emit", Type.I32, size)
        self._count = b.variable(Type.I32)
        streams = (number for number, _ in self.emission.topologies)
        self._starting = {number: b.variable(Type.I32, STARTS) for number in streams}

    def lower(self, instruction: Instruction) -> None:
        """Lower an emit or cut instruction; it has no effect on a stream that is not declared."""
        stream = instruction.operands[0].number if instruction.operands else 0
        if stream not in self._starting:
            return
        if instruction.op in EMITS:
            self._emit(stream)
        if instruction.op in CUTS:
            self._starting[stream].value = STARTS

    def _emit(self, stream: int) -> None:
        b, count, starting = self._b, self._count, self._starting[stream]
        own = {(each.number, each.mask) for each in self._declared if each.stream == stream}
        for word, (number, component) in enumerate(self.emission.words):
            if any(number == register and mask >> component & 1 for register, mask in own):
                value = self._output(number, component)
                b.store(self._file, value, word, count.value, self._stride)
        mark = starting.value + stream
        b.store(self._file, mark, self._stride - 1, count.value, self._stride)
        count.value = count.value + 1
        starting.value = 0

    def write_outputs(self) -> None:
        """Write the emitted vertices to the output ports at the end of the program."""
        b, limit = self._b, self.emission.limit
        count = self._count.value
        # The counter runs on past the limit; stores beyond the file are dropped.
        b.output("emitted.x", b.select(count < limit, count, limit))
        names = (*map(str, range(self._stride - 1)), "mark")
        for vertex in range(limit):
            for word, name in enumerate(names):
                value = b.load(self._file, vertex * self._stride + word)
                b.output(f"emit{vertex}.{name}", value)
