"""Hostile draws of few variants, as a target of the fuzzer."""

from dp2emu.fuzz.draws10 import target

FEW = target("few10", 2, 2)
