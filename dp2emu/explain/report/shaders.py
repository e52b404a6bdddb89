"""Shaders of draws and dispatches: the assembly that the program gave, or the generated code."""

from __future__ import annotations

from typing import Any

from dp2emu.explain.events import program_name, programs_of
from dp2emu.gpu.command.packets import Packet
from dp2emu.shader.ir import Program

_BOUND = {
    "vertex": ("vertex_shader", "VSSetShader"),
    "hull": ("HSSetShader",),
    "domain": ("DSSetShader",),
    "geometry": ("GSSetShader",),
    "pixel": ("pixel_shader", "PSSetShader"),
    "compute": ("CSSetShader",),
}
"""Facts of ``dp2emu state`` with the assembly of a stage's shader, by interface."""

TEXT = 200_000
"""Maximum number of characters of a shader's text."""
CHARACTERS = 1_500_000
"""Maximum size of all texts, after which further shaders have none."""


class ShaderTexts:
    """The distinct shaders of a page, in the order of their first use.  Mutable: it grows."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.without = 0
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._size = 0

    def numbers(self, packet: Packet | None, assemblies: dict[str, str]) -> list[int]:
        """Numbers of the rows of a packet's shaders, whose ``assemblies`` are known by stage."""
        return [
            self._number(stage, program, assemblies.get(stage, ""))
            for stage, program in programs_of(packet)
            if program is not None
        ]

    def _number(self, stage: str, program: Program, assembly: str) -> int:
        name = program_name(program)
        key = stage, name, assembly
        if key not in self._numbers:
            self._numbers[key] = len(self.rows)
            row = _row(stage, name, program, assembly)
            if self._size >= CHARACTERS:
                self.without += 1
                row["text"] = ""
            self._size += len(row["text"])
            self.rows.append(row)
        return self._numbers[key]


def assemblies_of(facts: dict[str, Any]) -> dict[str, str]:
    """The assembly of each stage's bound shader by stage, from the facts of ``dp2emu state``."""
    bound = ((stage, facts.get(name)) for stage, names in _BOUND.items() for name in names)
    return {
        stage: str(shader["assembly"])
        for stage, shader in bound
        if isinstance(shader, dict) and shader.get("assembly")
    }


def _row(stage: str, name: str, program: Program, assembly: str) -> dict[str, Any]:
    # Imported here: only explanations show programs.
    from dp2emu.shader.text import dump

    text = assembly or dump(program)
    lines = [line for line in text.splitlines() if line.strip()]
    kind = lines[0].strip() if assembly and lines else "generated from state"
    about = f"{kind:.40}, {len(lines)} lines"
    return {"name": name, "stage": stage, "about": about, "text": text[:TEXT]}
