"""Places of pixels: levels and views begin where their first subresource does."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.d3d.enums import Format
from dp2emu.errors import Absent
from dp2emu.explain.pixel_place import Place
from dp2emu.gpu.resource.heap import Heap, SurfaceDesc, SurfaceKind


def test_a_level_with_a_handle_of_its_own_has_its_own_pixels() -> None:
    heap = Heap()
    texture, level = (
        heap.create(SurfaceDesc(1, SurfaceKind.TEXTURE, 8, 8, Format.A8R8G8B8, levels=3)),
        heap.create(SurfaceDesc(2, SurfaceKind.SURFACE, 4, 4, Format.A8R8G8B8, parent=1, index=1)),
    )
    texture.data[:] = np.arange(texture.data.nbytes, dtype=np.uint32).astype(np.uint8)
    whole, alone = Place.of(texture, 1, 3, 2), Place.of(level, 0, 3, 2)
    assert whole.read() == alone.read() == bytes(level.pixels()[2, 3].tobytes())
    assert whole.offset_in(level) == alone.offset
    assert alone.offset_in(texture) == whole.offset


def test_a_surface_without_handle_has_its_serial_number() -> None:
    # Resources of Direct3D 10 and 11 have no handles.
    made = Heap().make(SurfaceDesc(0, SurfaceKind.TEXTURE, 8, 4, Format.A8R8G8B8))
    with pytest.raises(Absent, match=f"outside of surface {made.serial}: 8 x 4 pixels"):
        Place.of(made, 0, 8, 0)
