"""What geometry programs put out: vertices in a file of words, which are outputs at the end.

Ports, all I32: ``emitted.x`` says how many vertices there are, in all streams together;
``emit<n>.<w>`` is word w of vertex n (``Emission.words``), and ``emit<n>.mark`` its stream, and
``ports.STARTS`` more if it begins a strip of that.  Vertices beyond the limit are lost, so that a
program that goes on behind it does the same as one that ends there (SM4-5 tokens, "Geometry
shaders").
"""

from __future__ import annotations

from dp2emu.errors import ShaderError
from dp2emu.shader.ports import STARTS
from dp2emu.shader.sm4.lower.declared import Declared
from dp2emu.shader.sm4.lower.lowered import Emission
from dp2emu.shader.sm4.lower.lowering import Lowering, Place
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Instruction
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

MAX_WORDS = 1024
"""Of all vertices of an invocation, and vertices of all instances, together."""

EMITS = frozenset({Op.EMIT, Op.EMIT_STREAM, Op.EMITTHENCUT, Op.EMITTHENCUT_STREAM})
CUTS = frozenset({Op.CUT, Op.CUT_STREAM, Op.EMITTHENCUT, Op.EMITTHENCUT_STREAM})


def emission_of(declared: Declared) -> Emission:
    """What declarations say of it.  Raises ShaderError if they lack something, or say too much."""
    if declared.primitive is None or not declared.topologies:
        raise ShaderError("a geometry shader without its input primitive or output topology")
    words = tuple(sorted(declared.output_of))
    limit, instances = declared.vertices, declared.instances
    if limit * len(words) > MAX_WORDS or limit * instances > MAX_WORDS:
        what = f"{limit} vertices of {len(words)} words from {instances} instances"
        raise ShaderError(f"a geometry shader puts out {what}")
    topologies = tuple(sorted(declared.topologies.items()))
    return Emission(declared.primitive, instances, limit, words, topologies)


class Emitter:
    """Vertices on their way out of a program.  Mutable: it collects what the program records."""

    def __init__(self, low: Lowering) -> None:
        """Raises ShaderError for declarations that cannot be meant."""
        self._low = low
        self.emission = emission_of(low.declared)
        self._stride = len(self.emission.words) + 1
        size = max(self.emission.limit * self._stride, 1)
        self._file = low.b.local("emit", Type.I32, size)
        self._count = low.b.variable(Type.I32)
        streams = (number for number, _ in self.emission.topologies)
        self._starting = {number: low.b.variable(Type.I32, STARTS) for number in streams}

    def perform(self, instruction: Instruction) -> None:
        """emit, cut and the like; a stream that is not declared is none."""
        stream = instruction.operands[0].number if instruction.operands else 0
        if stream not in self._starting:
            return
        if instruction.op in EMITS:
            self._emit(stream)
        if instruction.op in CUTS:
            self._starting[stream].value = STARTS

    def _emit(self, stream: int) -> None:
        b, count, starting = self._low.b, self._count, self._starting[stream]
        own = {(each.number, each.mask) for each in self._low.declared.outputs
               if each.stream == stream}  # fmt: skip
        for word, (number, component) in enumerate(self.emission.words):
            if any(number == register and mask >> component & 1 for register, mask in own):
                value = output(self._low, number, component)
                b.store(self._file, value, word, count.value, self._stride)
        mark = starting.value + stream
        b.store(self._file, mark, self._stride - 1, count.value, self._stride)
        count.value = count.value + 1
        starting.value = 0

    def finish(self) -> None:
        """Write the ports."""
        b, limit = self._low.b, self.emission.limit
        count = self._count.value
        b.output("emitted.x", b.select(count < limit, count, limit))
        names = (*map(str, range(self._stride - 1)), "mark")
        for vertex in range(limit):
            for word, name in enumerate(names):
                value = b.load(self._file, vertex * self._stride + word)
                b.output(f"emit{vertex}.{name}", value)


def output(low: Lowering, number: int, component: int) -> Value:
    """What a component of o# has just now."""
    if File.OUTPUT in low.indexed:
        return low.b.load(low.indexed[File.OUTPUT], 4 * number + component)
    return low.variable(Place(File.OUTPUT, number, component)).value
