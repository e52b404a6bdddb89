"""The pixel stage of the reference engine: interpolation, quads, and the pixel program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.gpu.arrays import F32, F64, I64, Mask
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import (
    COVERAGE_PORT,
    DEPTH_PORT,
    LANE_PORT,
    Pipeline,
    in_quads,
    is_color,
    is_flat,
)
from dp2emu.gpu.input_assembler.vertex_fetch import COMPONENTS
from dp2emu.gpu.rasterizer.fragment_depth import depth_read
from dp2emu.gpu.rasterizer.multisample import POSITIONS, centroids, coverage
from dp2emu.gpu.rasterizer.planes import (
    Frame,
    Plane,
    Sites,
    plane,
    planes,
    read_plane,
    reciprocal,
    sites,
)
from dp2emu.gpu.rasterizer.primitive_setup import Primitives
from dp2emu.gpu.rasterizer.spans import ONE, Fragments, Spans
from dp2emu.gpu.resource.pixel_format import as_floats
from dp2emu.identity_cache import identity_cached
from dp2emu.shader.engines import locate_disagreement
from dp2emu.shader.formulas import computed
from dp2emu.shader.ir import Program
from dp2emu.shader.ops import canonical
from dp2emu.shader.ports import CENTROID, CONSTANT, NOPERSPECTIVE, SAMPLE, varying
from dp2emu.shader.reference import Run, Sampler
from dp2emu.shader.reference import run as run_reference
from dp2emu.shader.types import I32, Lanes

if TYPE_CHECKING:
    from dp2emu.gpu.shader_resources.resource_reads import StageFetcher, Words
    from dp2emu.gpu.shader_resources.unordered_access import Accesses

MAX_TARGETS = 8
"""Most colour targets that a pixel program can write: 8, as in Direct3D 10."""

COLOR_PORTS = tuple(
    tuple(f"target{number}.{component}" for component in COMPONENTS)
    for number in range(MAX_TARGETS)
)


@lru_cache(maxsize=1 << 10)
def targets_of(program: Program) -> tuple[int, ...]:
    """Numbers of the targets that a pixel program writes."""
    names = {port.name for port in program.outputs}
    return tuple(n for n, ports in enumerate(COLOR_PORTS) if not names.isdisjoint(ports))


class Shaded(msgspec.Struct, frozen=True):
    """Outputs of a pixel program.

    ``colors`` by target are four lanes each: float32, unclamped, or int32 bits.  ``depth`` is None
    if not written.  ``alive`` fragments are not killed.  ``drawn`` are the bits of the samples to
    write, None for all.
    """

    colors: dict[int, tuple[F32 | I32, ...]]
    depth: F32 | None
    alive: Mask
    drawn: I32 | None = None

    def part(self, chosen: I64) -> Shaded:
        """Outputs of the fragments at the indices ``chosen``."""
        depth = None if self.depth is None else self.depth[chosen]
        colors = {n: tuple(c[chosen] for c in rgba) for n, rgba in self.colors.items()}
        drawn = None if self.drawn is None else self.drawn[chosen]
        return Shaded(colors, depth, self.alive[chosen], drawn)


def covered(shaded: Shaded, coverage: F32) -> Shaded:
    """Outputs with all alphas multiplied by the coverage of antialiased lines."""
    colors = {n: (*rgba[:3], as_floats(rgba[3]) * coverage) for n, rgba in shaded.colors.items()}
    return replace(shaded, colors=colors)


def joined(parts: Sequence[Shaded]) -> Shaded:
    """Join the pixel program outputs of batches of fragments; ``parts`` has at least one."""
    depths = [part.depth for part in parts if part.depth is not None]
    masks = [part.drawn for part in parts if part.drawn is not None]
    colors = {
        n: tuple(map(np.concatenate, zip(*(part.colors[n] for part in parts), strict=True)))
        for n in parts[0].colors
    }
    return Shaded(
        colors,
        np.concatenate(depths) if depths else None,
        np.concatenate([part.alive for part in parts]),
        np.concatenate(masks) if masks else None,
    )


# Interpolation of the inputs, and the run of the program

TEXTURE_COORDINATE = "texcoord"
"""Prefix of the names of varyings that are texture coordinates."""

LANES = 1 << 15
"""Most fragments for which the pixel program runs at once."""


class Observing(ABC):
    """An engine that receives the sites of the lanes before each run of a pixel program."""

    @abstractmethod
    def at(self, shading: Shading, sites: Sites, real: Mask | None) -> Run:
        """The engine for one run at ``sites``; those that are not ``real`` complete quads, None
        means all are real.
        """


class Shading(msgspec.Struct, frozen=True):
    """A pixel program and the planes of its inputs.

    ``divided`` are planes of varyings times rhw, and ``divisor`` is the plane of rhw, taken as 1
    for a primitive without perspective; ``plain`` are planes of the varyings themselves.
    ``depth`` is the plane of z and ``rhw`` the plane of unchanged rhw, where the program reads
    them; ``front`` is +1 or -1 for each primitive.  ``numbers`` are primitive numbers in the draw.
    ``run`` is the engine.  ``sample`` is the sample that the program runs for, if it runs per
    sample.  ``moved_bytes`` collects the bytes of unordered access.
    """

    program: Program
    draw: Draw
    frame: Frame
    plain: dict[str, Plane]
    divided: dict[str, Plane]
    divisor: Plane | None
    depth: Plane
    rhw: Plane | None
    front: F32
    numbers: I32
    sampler: Sampler | None
    run: Run
    fetcher: StageFetcher | None = None
    sample: int = 0
    moved_bytes: list[int] = msgspec.field(default_factory=list)

    @property
    def moved(self) -> bool:
        """Whether samples have positions other than the pixel's centre."""
        return self.draw.pipeline.samples > 1 and self.draw.pipeline.raster.multisample


@identity_cached()
def varyings_of(program: Program) -> tuple[str, ...]:
    """Names of the varyings that a pixel program reads."""
    names = (varying(port.name) for port in program.inputs)
    return tuple(dict.fromkeys(name for name in names if name not in _SYSTEM))


def shading(
    draw: Draw,
    primitives: Primitives,
    depth: Plane,
    sampler: Sampler | None = None,
    run: Run = run_reference,
    fetcher: StageFetcher | None = None,
) -> Shading:
    """Planes of the inputs of primitives; ``depth`` is the plane of their z.

    With flat shading colours are those of the first corner.  Any other varying c becomes
    plane(c * rhw) * (1 / plane(rhw)), in float64, or the plane of c itself without perspective; a
    primitive whose rhw are all equal counts as rhw 1.  Any rhw is allowed.
    """
    program, frame, vertices = draw.pipeline.pixel, primitives.frame, primitives.vertices
    corners = {name: f.astype(np.float64)
               for name, f in zip(vertices.names, vertices.varyings, strict=True)}  # fmt: skip
    flat = [name for name in corners if is_flat(name, draw.pipeline.raster.flat)]
    plain = {name: _constant(corners.pop(name)[0]) for name in flat}
    if primitives.sprites is not None:
        across = _sprite_planes(program, primitives.sprites)
        plain |= across
        corners = {name: f for name, f in corners.items() if name not in across}
    rhw = vertices.position[3].astype(np.float64)
    true_rhw = plane(frame, rhw) if _reads(program, "w.x") else None
    linear = linear_varyings(draw.pipeline) & corners.keys()
    straight = {name: corners.pop(name) for name in linear}
    equal = (rhw == rhw[0]).all(axis=0)
    divided: dict[str, Plane] = {}
    divisor = None
    if equal.all() or not corners:
        plain |= planes(frame, straight | corners)
    else:
        rhw = np.where(equal, 1.0, rhw)
        scaled = {name: f * rhw for name, f in corners.items()}
        found = planes(frame, {**straight, **scaled, _DIVISOR: rhw})
        plain |= {name: found[name] for name in straight}
        divided = {name: found[name] for name in scaled}
        divisor = found[_DIVISOR]
    return Shading(
        program,
        draw,
        frame,
        plain,
        divided,
        divisor,
        depth,
        true_rhw,
        primitives.front,
        primitives.numbers.astype(np.int32),
        sampler,
        run,
        fetcher,
    )


_DIVISOR = ""
"""Name of the plane of rhw beside those of varyings."""


def linear_varyings(pipeline: Pipeline) -> frozenset[str]:
    """Varyings that are interpolated without perspective."""
    flattened = "" if pipeline.raster.perspective else TEXTURE_COORDINATE
    return _without_perspective(pipeline.pixel, flattened)


@identity_cached()
def _without_perspective(program: Program, flattened: str) -> frozenset[str]:
    """Varyings read with the modifier noperspective, or that begin with ``flattened`` unless
    this is empty.
    """
    names = [port.name for port in program.inputs if varying(port.name) not in _SYSTEM]
    beginning = {name for name in map(varying, names) if flattened and name.startswith(flattened)}
    return frozenset(beginning | {varying(name) for name in names if NOPERSPECTIVE in name})


def _sprite_planes(program: Program, sizes: F64) -> dict[str, Plane]:
    """Texture coordinates of points: 0.5 + (x - centre) / size, the same for y, then 0 and 1."""
    zero, one = np.zeros_like(sizes), np.ones_like(sizes)
    axes = {
        "x": Plane(one / 2, one / sizes, zero),
        "y": Plane(one / 2, zero, one / sizes),
        "z": _constant(zero),
        "w": _constant(one),
    }
    read = [name for name in varyings_of(program) if name.startswith(TEXTURE_COORDINATE)]
    return {name: axes[name[-1]] for name in read}


def _reads(program: Program, name: str) -> bool:
    return any(varying(port.name) == name for port in program.inputs)


def _constant(value: F64) -> Plane:
    zero = np.zeros_like(value)
    return Plane(value, zero, zero)


def shade(shading: Shading, sites: Sites) -> Shaded:
    """Run the pixel program for the fragments ``sites``, of which there is at least one."""
    count = len(sites.x)
    cuts = [np.arange(at, min(at + LANES, count)) for at in range(0, count, LANES)]
    if len(cuts) == 1:
        return _shade(shading, sites)
    return joined([_shade(shading, sites.part(cut)) for cut in cuts])


def _shade(shading: Shading, sites: Sites) -> Shaded:
    pipeline = shading.draw.pipeline
    way = centroids(sites, pipeline.samples) if pipeline.samples > 1 else None
    reads = _reads(shading.program, COVERAGE_PORT)
    mask = _coverage(shading, sites) if reads else _NO_COVERAGE
    if not in_quads(shading.program, pipeline.samplers):
        return _run(shading, sites, way, mask)
    completed, lane = quads(shading.frame, sites)
    count = len(completed.x)
    if way is not None:
        offsets, way = way, np.zeros((2, count))
        way[:, lane] = offsets
    if reads:
        covered, mask = mask, np.zeros(count, np.int32)
        mask[lane] = covered
    real = np.zeros(count, np.bool_)
    real[lane] = True
    return _run(shading, completed, way, mask, real).part(lane)


_NO_COVERAGE = np.zeros(1, np.int32)


def _coverage(shading: Shading, sites: Sites) -> I32:
    """Bits of the covered and enabled samples of pixels; bit 0 alone without multisampling."""
    samples, mask = shading.draw.pipeline.samples, shading.draw.output.merge.sample_mask
    if samples == 1:
        return np.ones(1, np.int32)
    bits = np.left_shift(coverage(sites, samples), np.arange(samples), dtype=np.int64)
    covered: I32 = (bits.sum(axis=1) & mask).astype(np.int32)
    return covered


def _run(
    shading: Shading, sites: Sites, way: F64 | None, mask: I32, real: Mask | None = None
) -> Shaded:
    """Run the program at sites.

    ``way`` is the offset of each site's centroid, None if all are centres; ``mask`` the covered
    samples.  Sites that are not ``real`` are helper lanes of quads; None means all are real.
    """
    count = len(sites.x)
    inputs, uniforms = _inputs(shading, sites, way), shading.draw.pixel.uniforms
    if _reads(shading.program, COVERAGE_PORT):
        inputs[COVERAGE_PORT] = mask
    memory = _memory(shading, count, real)
    run = shading.run
    if isinstance(run, Observing):
        run = run.at(shading, sites, real)
    with locate_disagreement(lambda lane: f"pixel {sites.x[lane]}, {sites.y[lane]}"):
        result = run(
            shading.program,
            inputs,
            uniforms,
            count,
            sampler=shading.sampler,
            fetcher=shading.fetcher
            and replace(shading.fetcher, evaluate=partial(_evaluated, shading, sites)),
            memory=memory,
        )
    if memory is not None:
        shading.moved_bytes.append(memory.bytes)
    outputs, nothing = result.outputs, np.zeros(count, np.float32)
    colors = {
        n: tuple(outputs.get(name, nothing) for name in COLOR_PORTS[n])
        for n in targets_of(shading.program)
    }
    drawn = outputs.get(COVERAGE_PORT)
    return Shaded(colors, outputs.get(DEPTH_PORT), result.alive, drawn)


def _memory(shading: Shading, lanes: int, real: Mask | None) -> Accesses | None:
    """Unordered access memory of the program's lanes; None if it has no memory operation."""
    pipeline = shading.draw.pipeline
    if not pipeline.memory_operations:
        return None
    # Imported here, since few programs need it at start-up.
    from dp2emu.gpu.shader_resources.unordered_access import Accesses

    return Accesses(pipeline.memory_operations, shading.draw.output.unordered, lanes, real=real)


def _evaluated(shading: Shading, sites: Sites, register: int, lanes: I32, way: F64) -> Words:
    """Components x, y, z and w of input ``register``, as int32 bits, for the fragments ``lanes``,
    evaluated at their positions plus ``way``, in pixels.
    """
    there = sites.part(lanes.astype(np.int64)).moved(way)
    names = [f"v{register}.{component}" for component in COMPONENTS]
    found = _interpolated(shading, there, names)
    nothing = np.zeros(1, np.float32)
    x, y, z, w = (canonical(found.get(name, nothing)).view(np.int32) for name in names)
    return x, y, z, w


def _inputs(shading: Shading, sites: Sites, way: F64 | None) -> dict[str, Lanes]:
    """Inputs of the program by name; those of unwritten varyings have shape (1,).

    Constants are int32, all else float32.  Colours and centroid inputs are evaluated at centroids,
    sample inputs at the sample that the program runs for.
    """
    names = [port.name for port in shading.program.inputs if port.name != COVERAGE_PORT]
    moved = [name for name in names if shading.moved and name.startswith(SAMPLE)]
    covered = [name for name in names
               if way is not None and (name.startswith(CENTROID) or is_color(name))]  # fmt: skip
    central = [name for name in names if name not in covered and name not in moved]
    inputs = _inputs_at(shading, sites, central, None)
    if covered:
        inputs |= _inputs_at(shading, sites, covered, way)
    if moved:
        x, y = POSITIONS[shading.draw.pipeline.samples][shading.sample]
        way = np.repeat([[x / ONE], [y / ONE]], len(sites.x), axis=1)
        inputs |= _inputs_at(shading, sites, moved, way)
    for name in names:
        if name not in inputs:
            type = np.int32 if name.startswith(CONSTANT) else np.float32
            inputs[name] = np.full(1, absent_value(name), type)
    return inputs


def _inputs_at(
    shading: Shading, sites: Sites, names: list[str], way: F64 | None
) -> dict[str, Lanes]:
    """Inputs of ``names`` at ``way``, pixels, from the centres; None if it is 0.  Unwritten
    varyings are left out.
    """
    there = sites if way is None else sites.moved(way)
    system = {name: _SYSTEM[varying(name)] for name in names if varying(name) in _SYSTEM}
    inputs = _interpolated(shading, there, [name for name in names if name not in system])
    return inputs | {name: value(shading, there, way) for name, value in system.items()}


def _interpolated(shading: Shading, sites: Sites, names: list[str]) -> dict[str, Lanes]:
    """Interpolated inputs of ``names``, but for those whose varying no vertex wrote."""
    plain, divided = (
        {name: planes[varying(name)] for name in names if varying(name) in planes}
        for planes in (shading.plain, shading.divided)
    )
    values: dict[str, tuple[F64, ...]]
    values = {name: (sites.at(plane),) for name, plane in plain.items()}
    if divided and shading.divisor is not None:
        (w,) = computed(reciprocal, None, sites.at(shading.divisor))
        values |= {name: (sites.at(plane), w) for name, plane in divided.items()}
    return {
        name: computed(read_plane, name.startswith(CONSTANT), *factors)[0]
        for name, factors in values.items()
    }


def absent_value(name: str) -> float:
    """Value of an input whose varying the vertices lack: 0, but white for the diffuse colour."""
    return float(varying(name) in _ONES)


_ONES = frozenset(f"color0.{component}" for component in COMPONENTS)


def _column(shading: Shading, sites: Sites, way: F64 | None) -> F32:
    return (sites.x if way is None else sites.x + way[0]).astype(np.float32)


def _row(shading: Shading, sites: Sites, way: F64 | None) -> F32:
    return (sites.y if way is None else sites.y + way[1]).astype(np.float32)


def _face(shading: Shading, sites: Sites, way: F64 | None) -> F32:
    return shading.front[sites.spans.primitive][sites.span]


def _depth(shading: Shading, sites: Sites, way: F64 | None) -> F32:
    return computed(depth_read, None, sites.at(shading.depth))[0]


def _eye_w(shading: Shading, sites: Sites, way: F64 | None) -> F32:
    """Pixel program input w: 1 / rhw in float64, then rounded to float32."""
    assert shading.rhw is not None
    (w,) = computed(reciprocal, None, sites.at(shading.rhw))
    return computed(read_plane, False, w)[0]


def _lane(shading: Shading, sites: Sites, way: F64 | None) -> Lanes:
    return np.arange(len(sites.x), dtype=np.int32)


def _sample(shading: Shading, sites: Sites, way: F64 | None) -> Lanes:
    return np.array([shading.sample], np.int32)


def _number(shading: Shading, sites: Sites, way: F64 | None) -> Lanes:
    """For each fragment, the number of its primitive in the draw or, if instanced, instance."""
    return shading.numbers[sites.spans.primitive][sites.span]


_SYSTEM: dict[str, Callable[[Shading, Sites, F64 | None], Lanes]] = {
    "vpos.x": _column,
    "vpos.y": _row,
    "vface.x": _face,
    "depth.x": _depth,
    "w.x": _eye_w,
    "primitive_id.x": _number,
    "sample_index.x": _sample,
    LANE_PORT: _lane,
}
"""From pixel program input that no vertex provides to the function that computes its value at
sites that are moved from the centres of their pixels by a distance, None if it is 0."""


def quads(frame: Frame, here: Sites) -> tuple[Sites, I64]:
    """Sites of the 2x2 quads around one or more fragments, and the lane of each fragment in them.

    Quads lie on even pixels.  Pixels that the primitive does not cover are helper lanes, which
    read its planes beyond its edges.
    """
    primitive, x, y = here.spans.primitive[here.span], here.x, here.y
    columns, rows = (int(axis.max() >> 1) + 1 for axis in (x, y))
    found, quad = np.unique((primitive * rows + (y >> 1)) * columns + (x >> 1),
                            return_inverse=True)  # fmt: skip
    above, column = np.divmod(found, columns)
    owner, row = np.divmod(above, rows)
    left = np.repeat(2 * column, 2)
    spans = Spans(np.repeat(owner, 2), (2 * row[:, None] + np.arange(2)).ravel(), left, left + 2)
    lane = np.arange(4 * len(found))
    fragments = Fragments(spans, lane >> 1, left[lane >> 1] + (lane & 1))
    return sites(frame, fragments), 4 * quad.ravel() + 2 * (y & 1) + (x & 1)
