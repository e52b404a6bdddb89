"""Hostile draws of few variants, as a target of the fuzzer."""

from dp2emu.fuzz.draws import target

FEW = target("few", 2, 1)
