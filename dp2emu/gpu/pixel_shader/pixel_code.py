"""Pixel program of a kernel: LLVM text of its inputs, its call, and its samplers' calls.

Lanes are in QUADS order.  Programs are functions of the same module (``shader.jit.bodies``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from dp2emu.gpu.code.block_writer import Code, Lane, splat
from dp2emu.gpu.code.kernel_key import Key, Samplers
from dp2emu.gpu.code.kernel_layout import DEPTH, DIVIDED, DIVISOR, FRONT, NUMBER, RHW
from dp2emu.gpu.command.pipeline import COVERAGE_PORT, DEPTH_PORT, is_color
from dp2emu.gpu.pixel_shader.pixel_stage import COLOR_PORTS, absent_value, targets_of
from dp2emu.gpu.rasterizer.fragment_depth import depth_read
from dp2emu.gpu.rasterizer.planes import read_plane, reciprocal
from dp2emu.gpu.rasterizer.planes_code import Primitive, lanes_from
from dp2emu.shader.ir import Constant, Program
from dp2emu.shader.jit.bodies import body
from dp2emu.shader.jit.inline import emitted
from dp2emu.shader.jit.layout import Callee
from dp2emu.shader.jit.ranges import Range, SampleRanges, output_ranges
from dp2emu.shader.jit.writer import ZERO, Target, Writer, constant, number
from dp2emu.shader.ports import CENTROID, CONSTANT, SAMPLE, varying
from dp2emu.shader.sampling import ports
from dp2emu.shader.types import Type

Way = tuple[str, str]
"""Pair of LLVM vectors of doubles: distances in x and in y of each fragment from corner 0."""
ONES = f"splat (double {number(1.0)})"


class Routine(msgspec.Struct, frozen=True):
    """A program as a function ``name`` of the module.

    ``arguments`` are its inputs in order, the program's own by default.  ``direct`` names the
    functions of its samplers, and ``sampled`` has the ranges of their results.
    """

    name: str
    program: Program
    arguments: tuple[str, ...] = ()
    direct: Mapping[Callee, str] = msgspec.field(default_factory=dict)
    sampled: SampleRanges = msgspec.field(default_factory=dict)

    def text(self, target: Target, *, inline: bool, paired: bool = True) -> tuple[str, Writer]:
        """Header and body of the program's LLVM function."""
        names = self.arguments or tuple(port.name for port in self.program.inputs)
        header, text = body(
            self.program, names,
            target=target, masked=False, name=self.name, visible=False, direct=self.direct,
            sampled=self.sampled, paired=paired,
        )  # fmt: skip
        header = header.replace("define ", "define internal ", 1)
        return f"{header} {'alwaysinline' if inline else 'noinline'}", text

    def call(
        self, w: Code, bindings: str, inputs: Mapping[str, str]
    ) -> tuple[dict[str, str], str]:
        """Emit a call -> outputs by name, and the mask of the lanes that are alive."""
        given = w.allocate(w.f, max(1, len(self.program.inputs)))
        found = w.allocate(w.f, max(1, len(self.program.outputs)))
        for row, port in enumerate(self.program.inputs):
            place = w.place(given, str(row * w.target.row))
            w.do(f"store {w.vector(port.type)} {inputs[port.name]}, ptr {place}, align 4")
        bits = w(f"call i32 @{self.name}(ptr {bindings}, ptr {given}, ptr {found}, i32 -1)")
        outputs = {}
        for row, port in enumerate(self.program.outputs):
            place = w.place(found, str(row * w.target.row))
            outputs[port.name] = w(f"load {w.vector(port.type)}, ptr {place}, align 4")
        return outputs, w.mask(bits)


NOTHING = (Lane(ZERO),) * 4
"""Colour 0, 0, 0, 0 as four LLVM values: the output for a target that is not written."""


def sampling(samplers: Samplers) -> list[Routine]:
    """A function of the kernel's module (``Routine``) for each sampler program of ``samplers``."""
    return [
        Routine(f"sampler{number}", program, ports(asked.kind, asked.lod))
        for number, (asked, program) in enumerate(samplers)
    ]


def pixel_routine(key: Key) -> Routine:
    """Routine of the pixel program, which calls those of its samplers."""
    direct: dict[Callee, str] = {}
    sampled: dict[Callee, tuple[Range | None, ...]] = {}
    for (asked, program), routine in zip(key.samplers, sampling(key.samplers), strict=True):
        direct[asked] = routine.name
        sampled[asked] = tuple(output_ranges(program).get(port.name) for port in program.outputs)
    return Routine("pixel", key.program, direct=direct, sampled=sampled)


class Shaded(msgspec.Struct, frozen=True):
    """Outputs of a pixel program: colours by target, its depth if it writes one, the mask of lanes
    not killed, and the bits of the samples to write, None for all.
    """

    colors: dict[int, list[Lane]]
    depth: str | None
    alive: str
    drawn: str | None


class Site(msgspec.Struct):
    """Positions at which inputs of a block's lanes are evaluated.  Mutable: 1 / rhw is computed
    when first read.

    ``central`` are the pixels' centres, ``covered`` the centroids, ``sampled`` the sample with
    number ``sample``, for which the program runs; the last two are None where they are the
    centres, and ``offsets`` has their distances from these in pixels.  ``rows`` has, by attribute,
    the value of its plane equation at the y of the pixels' centres and the x of corner 0;
    ``coverage`` has a bit for each covered sample, I32.
    """

    primitive: Primitive
    x: str
    y: str
    central: Way
    covered: Way | None
    sampled: Way | None
    rows: Mapping[str, str]
    sample: int
    coverage: str
    offsets: Mapping[Way, Way] = msgspec.field(default_factory=dict)
    reciprocals: dict[Way | None, str] = msgspec.field(default_factory=dict)

    def way_of(self, port: str) -> Way | None:
        """Distances from corner 0 at which input ``port`` is evaluated; None: pixel centres."""
        if port.startswith(SAMPLE):
            return self.sampled
        return self.covered if port.startswith(CENTROID) or is_color(port) else None

    def plane(self, name: str, way: Way | None = None) -> str:
        """Values of a plane, doubles, at distances ``way`` from corner 0, or at pixel centres."""
        if way is not None:
            return self.primitive.at(name, self.primitive.row(name, way[1]), way[0])
        row = self.rows.get(name) or self.primitive.row(name, self.central[1])
        return self.primitive.at(name, row, self.central[0])

    def rhw(self, way: Way | None) -> str:
        """Emit the factor of perspective planes at distances ``way``: 1 / divisor, else 1.0."""
        if way not in self.reciprocals:
            w = self.primitive.code
            found = w.variable(w.d, ONES)
            with w.when(self.primitive.flag(DIVIDED)):
                found.set(emitted(w, reciprocal, None, [(Type.F64, self.plane(DIVISOR, way))])[0])
            self.reciprocals[way] = found.value
        return self.reciprocals[way]


def _column(site: Site, way: Way | None) -> str:
    return _position(site, 0, way)


def _row(site: Site, way: Way | None) -> str:
    return _position(site, 1, way)


def _position(site: Site, axis: int, way: Way | None) -> str:
    """Emit the place of each fragment along an axis, 0 for x and 1 for y; exact."""
    w = site.primitive.code
    first, lanes = ((site.x, w.quads.columns), (site.y, w.quads.rows))[axis]
    whole = w(f"sitofp {w.i} {lanes_from(w, first, lanes)} to {w.f}")
    if way is None:
        return whole
    offset = w(f"fptrunc {w.d} {site.offsets[way][axis]} to {w.f}")
    return w(f"fadd {w.f} {whole}, {offset}")


def _face(site: Site, way: Way | None) -> str:
    return _read(site.primitive.code, site.primitive.splat(FRONT))


def _depth(site: Site, way: Way | None) -> str:
    z = [(Type.F64, site.plane(DEPTH, way))]
    return emitted(site.primitive.code, depth_read, None, z)[0]


def _eye_w(site: Site, way: Way | None) -> str:
    w = site.primitive.code
    (eye_w,) = emitted(w, reciprocal, None, [(Type.F64, site.plane(RHW, way))])
    return _read(w, eye_w)


def _number(site: Site, way: Way | None) -> str:
    w = site.primitive.code
    number = w(f"trunc i64 {site.primitive.integer(NUMBER)} to i32")
    return w.spread("i32", number)


def _sample(site: Site, way: Way | None) -> str:
    return splat(site.sample)


def _coverage(site: Site, way: Way | None) -> str:
    return site.coverage


SYSTEM: dict[str, Callable[[Site, Way | None], str]] = {
    "vpos.x": _column,
    "vpos.y": _row,
    "vface.x": _face,
    "depth.x": _depth,
    "w.x": _eye_w,
    "primitive_id.x": _number,
    "sample_index.x": _sample,
    COVERAGE_PORT: _coverage,
}
"""From pixel program input that no vertex provides to the function that emits its value at
distances from corner 0, None for the pixels' centres."""


def _read(w: Code, *factors: str, whole: bool = False) -> str:
    """Emit a program input, the product of ``factors`` (a plane's value and, in perspective, 1 /
    rhw): float32, or int32 if ``whole``.
    """
    return emitted(w, read_plane, whole, [(Type.F64, each) for each in factors])[0]


class Shader(msgspec.Struct, frozen=True):
    """Writer of the pixel program's inputs and call; ``bindings`` is the LLVM name of a pointer to
    the program's binding words.
    """

    code: Code
    key: Key
    routine: Routine
    bindings: str

    def __call__(self, site: Site) -> Shaded:
        """Emit the inputs and the call of the program for all lanes."""
        w, program = self.code, self.key.program
        inputs = {port.name: self._input(site, port.name) for port in program.inputs}
        outputs, alive = self.routine.call(w, self.bindings, inputs)
        whole = {port.name for port in program.outputs if port.type is Type.I32}
        colors = {
            n: [Lane(outputs.get(name, ZERO), name in whole) for name in COLOR_PORTS[n]]
            for n in targets_of(program)
        }
        return Shaded(colors, outputs.get(DEPTH_PORT), alive, outputs.get(COVERAGE_PORT))

    def _input(self, site: Site, name: str) -> str:
        key, source, way = self.key, varying(name), site.way_of(name)
        if source in SYSTEM:
            return SYSTEM[source](site, way)
        if source not in key.plain and source not in key.perspective:
            return _constant(name)
        factors = [site.plane(source, way)]
        if source in key.perspective:
            factors.append(site.rhw(way))
        return _read(self.code, *factors, whole=name.startswith(CONSTANT))


def _constant(name: str) -> str:
    """LLVM constant of an input whose varying the vertices lack."""
    value = absent_value(name)
    if name.startswith(CONSTANT):
        return f"splat (i32 {int(value)})" if value else ZERO
    return constant(Constant.of(Type.F32, value))
