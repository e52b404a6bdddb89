"""Tests of ``dp2emu.explain``."""
