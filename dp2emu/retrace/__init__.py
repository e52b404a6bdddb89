"""Import of API traces: a program's calls are made again on a runtime, whose commands become a
capture.

``all_methods()`` returns the action for every method of every interface.  A call that cannot be
expressed in commands of a driver is reported as a loss with its number.
"""

from dp2emu.retrace.importing import Import, importing, selected
from dp2emu.retrace.losses import Loss, Losses
from dp2emu.retrace.program import METHODS, Method, all_methods

__all__ = ["METHODS", "Import", "Loss", "Losses", "Method", "all_methods", "importing", "selected"]
