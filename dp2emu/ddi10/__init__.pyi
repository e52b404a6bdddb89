from dp2emu.ddi10.adapter import Adapter as Adapter
from dp2emu.ddi10.device import Device as Device
from dp2emu.ddi10.queries.statistics import Statistics as Statistics
