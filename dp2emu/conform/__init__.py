"""The conformance kit: small captures of one rule each, and whether a rig follows it."""

from dp2emu.conform.case import Case, Expect
from dp2emu.conform.kit import kit
from dp2emu.conform.running import Outcome, Verdict, run_case, run_kit

__all__ = ["Case", "Expect", "Outcome", "Verdict", "kit", "run_case", "run_kit"]
