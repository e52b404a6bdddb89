"""Devices whose tokens are looked at instead of being executed."""

from __future__ import annotations

from typing import Any

from dp2emu.dp2.walk import decode, scan
from dp2emu.runtime import Device9

from .rigs import ScriptedRig


def tokens(rig: ScriptedRig) -> list[tuple[str, list[Any]]]:
    """What a rig was sent: (name, items) of every token."""
    found = []
    for call in rig.calls:
        data = call.commands or b""
        for _, token, count, start, end in scan(data, 0, len(data), 0).commands:
            body = decode(token, data, count, start, end, 0)
            found.append((token.name, body.items.tolist()))
    return found


def scripted() -> tuple[Device9, ScriptedRig]:
    """A device whose opening calls are made and forgotten."""
    rig = ScriptedRig()
    device = Device9(rig, 8, 6)
    device.session.flush()
    rig.calls.clear()
    return device, rig


def flushed(device: Device9, rig: ScriptedRig) -> list[tuple[str, list[Any]]]:
    """The tokens since the last look."""
    device.session.flush()
    found = tokens(rig)
    rig.calls.clear()
    return found
