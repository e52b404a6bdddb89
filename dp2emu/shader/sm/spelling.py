"""Mnemonics and component letters of assembly text, shared by assembler and disassembler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from dp2emu.shader.sm.modifiers import Comparison, Sampling
from dp2emu.shader.sm.opcodes import Control, Op
from dp2emu.shader.sm.versions import Version

COMPONENTS = "xyzw"
COLORS = "rgba"

COMMENT = "comment"
"""Keyword of the line that begins a comment."""

_SAMPLING_SUFFIXES = {Sampling.PLAIN: "", Sampling.PROJECT: "p", Sampling.BIAS: "b"}


class Mnemonic(NamedTuple):
    """An opcode with its control bits."""

    op: Op
    comparison: Comparison | None = None
    sampling: Sampling = Sampling.PLAIN


@cache
def mnemonics(version: Version) -> Mapping[str, Mnemonic]:
    """Every mnemonic of a version, without flags: ``mad``, ``if_gt``, ``texldp``."""
    return MappingProxyType({name: each for op in Op for name, each in _of(op, version)})


@cache
def spellings(version: Version) -> Mapping[Mnemonic, str]:
    """The mnemonic text of each opcode with control bits: the inverse of ``mnemonics``."""
    return MappingProxyType({each: name for name, each in mnemonics(version).items()})


def _of(op: Op, version: Version) -> Iterator[tuple[str, Mnemonic]]:
    form = op.row.form(version)
    if form is None:
        return
    if op.row.control is Control.COMPARISON:
        for comparison in Comparison:
            yield f"{form.name}_{comparison.name.lower()}", Mnemonic(op, comparison)
    elif op.row.control is Control.SAMPLING and version.has_lengths:
        for sampling, suffix in _SAMPLING_SUFFIXES.items():
            yield form.name + suffix, Mnemonic(op, sampling=sampling)
    else:
        yield form.name, Mnemonic(op)
