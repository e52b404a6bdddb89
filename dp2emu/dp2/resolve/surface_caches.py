"""Which caches of contexts hold surfaces, so that only those are told of a dropped handle.

Source: wire format, "Vertex sources" and "Texture stages and samplers".
"""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet

from dp2emu.gpu.resource.heap import BUFFERS, Surface


class BufferCache(Protocol):
    """A cache of streams of buffers."""

    def forget(self, surface: Surface) -> None:
        """Drop what holds the buffer ``surface``."""


class TextureCache(Protocol):
    """A cache of records that hold textures and targets."""

    def forget(self) -> None:
        """Drop everything."""


class SurfaceCaches:
    """The caches of a driver's contexts that hold surfaces.  Mutable: caches add themselves.

    A surface that loses its handle is dropped from the caches that may hold it.  Each visit of a
    cache is paid for by an entry that was added to it before, so the number of contexts does not
    count.  A cache ends with its context.
    """

    def __init__(self) -> None:
        self._of_buffers: dict[int, WeakSet[BufferCache]] = {}
        self._of_textures: WeakSet[TextureCache] = WeakSet()

    def add_buffer(self, cache: BufferCache, buffer: Surface) -> None:
        """Note that ``cache`` holds ``buffer``."""
        self._of_buffers.setdefault(buffer.serial, WeakSet()).add(cache)

    def add_textures(self, cache: TextureCache) -> None:
        """Note that ``cache`` holds textures or targets."""
        self._of_textures.add(cache)

    def forget(self, surface: Surface) -> None:
        """Drop a surface from all caches; its handle is about to be dropped."""
        if surface.desc.kind in BUFFERS:
            for buffers in self._of_buffers.pop(surface.serial, ()):
                buffers.forget(surface)
            return
        textures, self._of_textures = self._of_textures, WeakSet()
        for each in textures:
            each.forget()
