"""Records are structs: nothing is compiled for them at a start."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest
from msgspec.structs import replace

from dp2emu.d3d.enums import Format
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind


def desc() -> SurfaceDesc:
    return SurfaceDesc(1, SurfaceKind.TEXTURE, 4, 2, Format.A8R8G8B8)


def test_frozen_records_are_values() -> None:
    one = desc()
    assert one == desc() and hash(one) == hash(desc())
    assert replace(one, width=8) != one
    with pytest.raises(AttributeError, match="immutable"):
        one.width = 8  # type: ignore[misc]


def test_records_are_copied_and_pickled() -> None:
    one = desc()
    assert [copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))] == [one] * 3


def test_a_start_compiles_no_methods_of_records() -> None:
    """As it would for each dataclass; a driver has hundreds of records."""
    text = (
        "import sys, dp2emu.dp2.driver, dp2emu.gpu.device.gpu, msgspec\n"
        "ours = [m for m in sys.modules.values() if m.__name__.startswith('dp2emu')]\n"
        "kinds = {c for m in ours for c in vars(m).values() if isinstance(c, type)}\n"
        "assert sum(issubclass(c, msgspec.Struct) for c in kinds) > 100\n"
        "assert not [c for c in kinds if hasattr(c, '__dataclass_fields__')]\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True)
