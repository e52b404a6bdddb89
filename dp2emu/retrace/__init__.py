"""Import of API traces: the calls of a program become calls of a runtime, and those a capture.

A table has the action for every method of every interface (``METHODS``).  A call that cannot be
expressed is reported as a loss with its number.
"""

from dp2emu.retrace.importing import Import, importing, selected
from dp2emu.retrace.losses import Loss, Losses
from dp2emu.retrace.program import METHODS, Method

__all__ = ["METHODS", "Import", "Loss", "Losses", "Method", "importing", "selected"]
