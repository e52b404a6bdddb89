"""Shader traces as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dp2emu.escaping import plain
from dp2emu.explain.shader_trace import Final, Read, ShaderTrace, Step, Value

_SHOWN = 8
"""Most texels of a read that are shown."""


def value_text(value: Value) -> str:
    """A value as float, integer and bits, what it was computed as first."""
    if value.type == "bool":
        return f"{value.name} = {'true' if value.bits else 'false'}"
    width = 16 if value.type.endswith("64") else 8
    number, integer = f"{value.number:.9g}", str(value.integer)
    first, second = (number, integer) if value.type.startswith("f") else (integer, number)
    return f"{value.name} = {first} ({second}, {value.bits:#0{width + 2}x})"


def step_lines(step: Step) -> Iterator[str]:
    """The lines of a step: its instruction, what it read, sampled and wrote."""
    place = "" if step.offset is None else f"  ; byte {step.offset:#x}"
    yield f"{step.number + 1:4} {plain(step.instruction)}{place}"
    yield from (f"       in   {value_text(value)}" for value in step.reads)
    for read in step.texels:
        yield from (f"       {line}" for line in read_lines(read))
    yield from (f"       out  {value_text(value)}" for value in step.writes)
    if step.killed:
        yield "       the pixel is discarded"


def read_lines(read: Read) -> Iterator[str]:
    """The lines of a sample, fetch or access."""
    integral = read.what != "sample"
    levels = f", level {' '.join(map(str, read.levels))}" if read.texels else ""
    given = _numbers(read.coordinates, integral)
    more = f", {read.lod} {_numbers(read.arguments, integral)}".rstrip() if read.lod else ""
    yield f"{read.what} {read.unit} {read.kind} at {given}{more}{levels}"
    for texel in read.texels[:_SHOWN]:
        place = f"{texel.x}, {texel.y}" + (f", {texel.z}" if texel.z else "")
        layer = f" of layer {texel.layer}" if texel.layer else ""
        yield f"  texel {place} of level {texel.level}{layer}, byte {texel.offset:#x}"
    if len(read.texels) > _SHOWN:
        yield f"  and {len(read.texels) - _SHOWN} more"
    yield f"  is {_numbers(read.results, integral)}"


def _numbers(values: Sequence[Value], integral: bool) -> str:
    """Values as a list of numbers."""
    return ", ".join(str(v.integer) if integral else f"{v.number:.9g}" for v in values)


def final_lines(final: Final) -> Iterator[str]:
    """The lines of the end of a lane."""
    yield "outputs" + (" (discarded)" if final.killed else "")
    yield from (f"       {value_text(value)}" for value in final.outputs)
    if final.verdict:
        yield f"output merger: {final.verdict}"
    for each in final.stored:
        sample = f" sample {each.sample}" if each.sample else ""
        end = "" if each.end == each.after else f", at the end of the draw {each.end}"
        yield f"       {each.target}{sample}: {each.before} -> {each.after}{end}"


def heading(trace: ShaderTrace) -> str:
    """The line that says which lane of which shader a trace is of."""
    count = len(trace.steps)
    kind = plain(trace.disassembly[0]) if trace.disassembly else "shader"
    kind = "generated program" if kind == trace.stage else kind
    return f"{trace.stage} shader ({kind}), {trace.lane}: {count} steps"


def trace_lines(trace: ShaderTrace) -> Iterator[str]:
    """All lines of a trace."""
    yield heading(trace)
    for step in trace.steps:
        yield from step_lines(step)
    yield from final_lines(trace.final)


def origin_lines(trace: ShaderTrace) -> Iterator[str]:
    """The lines on the first origin of a NaN or infinity."""
    step = trace.not_finite()
    if step is None:
        yield "no instruction writes a NaN or an infinity"
        return
    yield from step_lines(step)
    came = [value.name for value in step.reads if not _as_float(value).finite]
    if came:
        yield f"       it came in by {', '.join(came)}"


def _as_float(value: Value) -> Value:
    return Value(value.name, value.bits, "f64" if value.type.endswith("64") else "f32")


def register_lines(values: Iterable[Value]) -> Iterator[str]:
    """A line for each register component."""
    return (f"       {value_text(value)}" for value in values)
