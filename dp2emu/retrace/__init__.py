"""Real programs: the calls of a trace become the calls of a runtime, and those a capture.

A table says of every method of every interface what is done for it (``methods``); what cannot be
expressed is a loss with its call's number, never dropped.
"""

from dp2emu.retrace.importing import Import, importing, selected
from dp2emu.retrace.losses import Loss, Losses
from dp2emu.retrace.program import METHODS, Method

__all__ = ["METHODS", "Import", "Loss", "Losses", "Method", "importing", "selected"]
