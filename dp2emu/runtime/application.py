"""A Direct3D 9 or 8 device with its settings, resources, swap chains and object lifetimes.

``Device9`` sends commands; ``Application`` adds resources by object, with pools and locks, and
destroys released objects once the device no longer uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, TypeVar

from msgspec.structs import replace

from dp2emu.capture.records import Record
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import DeclUsage, Format, Pool, TextureFilter
from dp2emu.d3d.formats import COLOR, FORMATS
from dp2emu.d3d.fvf import fvf_layout
from dp2emu.d3d.vertices import Element, VertexLayout
from dp2emu.errors import Unsupported
from dp2emu.gpu.resource.heap import TEXTURES, VOLUMES, SurfaceDesc, SurfaceKind
from dp2emu.gpu.resource.planar import PLANAR, host_image
from dp2emu.gpu.resource.subresources import Box
from dp2emu.rig.interface import Rig
from dp2emu.runtime.arguments import INDEX_BYTES, box_inside
from dp2emu.runtime.chains import Chain, Presentation
from dp2emu.runtime.device9 import Device9
from dp2emu.runtime.mirror import Mirror
from dp2emu.runtime.objects import (
    Declaration,
    IndexBuffer,
    PixelShader,
    Program,
    Texture,
    VertexElement,
    VertexShader,
)
from dp2emu.runtime.resources import Resource, Stored, block_of, store_pixels
from dp2emu.runtime.session import Numbers, Session
from dp2emu.runtime.settings9 import default_of, setters
from dp2emu.runtime.textures import TextureShape

_EVICT = 61
"""Number of the render state by which the runtime makes the driver evict managed textures (wire
format, "Render states")."""


def layout_of_elements(elements: tuple[Element, ...]) -> VertexLayout:
    """The vertex layout of a declaration's elements."""
    return VertexLayout(elements, any(e.usage is DeclUsage.POSITIONT for e in elements))


def stored_as(format: Format) -> Format:
    """The driver's format for a resource of ``format``; for D3DFMT_NULL, a target whose colours
    are never read, A8R8G8B8.
    """
    return Format.A8R8G8B8 if format is Format.NULL else format


_DELETE: dict[type[Program], Op] = {
    Declaration: Op.DELETEVERTEXSHADERDECL,
    VertexShader: Op.DELETEVERTEXSHADERFUNC,
    PixelShader: Op.DELETEPIXELSHADER,
}
_ORDER = itemgetter(0)
_Released = TypeVar("_Released", bound=tuple[int, Any])
"""A released object, after the number of releases before it."""


class Application:
    """A Direct3D 9 or 8 device of an application, over a rig.  Mutable.

    ``interface`` is 9 or 8; ``layouts`` has vertex layouts by declaration handle, ``numbered`` the
    objects of Direct3D 8 by (kind, number).  The devices of a rig share the counters ``numbers``;
    ``record`` is called with every event but the driver's responses.
    """

    def __init__(
        self,
        rig: Rig,
        parameters: Presentation,
        *,
        interface: int,
        numbers: Numbers,
        record: Callable[[Record], None],
    ) -> None:
        self.session = Session(
            rig, context=numbers.next_context(), interface=interface, record=record,
            numbers=numbers, answers=False,
        )  # fmt: skip
        p = parameters
        self.device = Device9(
            rig, p.width, p.height, format=p.format, depth=p.depth, samples=p.samples,
            session=self.session,
        )  # fmt: skip
        self.mirror = Mirror(setters(self.device), partial(default_of, self.device))
        self.resources: dict[int, Resource] = {}
        self.layouts: dict[int, VertexLayout] = {}
        self.numbered: dict[tuple[str, int], object] = {}
        self._dying: dict[Hashable, tuple[int, Resource]] = {}
        self._retired: dict[Hashable, tuple[int, Program]] = {}
        self._unheld: set[Hashable] = set()
        self._releases = 0
        self.mirror.uses.freed = self._freed
        self.chains = [self._chain(parameters, self.device.back_buffer)]
        self._depth = self._automatic_depth()

    def _chain(self, parameters: Presentation, first: SurfaceDesc | None = None) -> Chain:
        chain = Chain(self.session, parameters, self.device.create_render_target, first)
        for surface in chain.surfaces:
            self._own(surface)
        return chain

    def _automatic_depth(self) -> Resource | None:
        desc = self.device.depth_buffer
        return self._own(Resource(desc, implicit=True)) if desc else None

    @property
    def implicit(self) -> list[Resource | None]:
        """The automatic depth surface or None, then the surfaces of the first swap chain."""
        return [self._depth, *self.chains[0].surfaces]

    def add_chain(self, parameters: Presentation) -> Chain:
        """CreateAdditionalSwapChain."""
        self.chains.append(self._chain(parameters))
        return self.chains[-1]

    def reset(self, parameters: Presentation) -> None:
        """Reset: new swap chains and depth surface, and initial state; managed resources stay."""
        old = [surface for chain in self.chains for surface in chain.surfaces]
        old += [self._depth] if self._depth else []
        p, device = parameters, self.device
        back = device.create_render_target(p.width, p.height, p.format, p.samples)
        depth = p.depth and device.create_depth_stencil(p.width, p.height, p.depth, p.samples)
        device.reset(back, depth or None)
        self.mirror.reset()
        self.chains = [self._chain(parameters, back)]
        self._depth = self._automatic_depth()
        for surface in old:
            surface.implicit = False
            self.release(surface)
        self.sweep()

    # Resources

    def _own(self, resource: Resource) -> Resource:
        if resource.desc is not None:
            self.resources[resource.desc.handle] = resource
        return resource

    def create_texture(self, shape: TextureShape, pool: Pool) -> Resource:
        """CreateTexture, CreateCubeTexture and CreateVolumeTexture; the driver does not get
        textures in D3DPOOL_SCRATCH.
        """
        if pool is Pool.SCRATCH:
            return Resource(None, pool)
        stored = replace(shape, format=stored_as(shape.format))
        desc = self.device.textures.create(stored, []).desc
        made = self._own(Resource(desc, pool))
        made.format = shape.format
        return made

    def create_surface(
        self, width: int, height: int, format: Format, pool: Pool, *,
        samples: int = 1, usage: int = 0,
    ) -> Resource:  # fmt: skip
        """CreateRenderTarget, CreateDepthStencilSurface or CreateOffscreenPlainSurface, as
        ``usage`` tells.
        """
        if pool is Pool.SCRATCH:
            return Resource(None, pool)
        desc = self.session.create_surface(
            SurfaceKind.SURFACE, width, height, stored_as(format), samples=samples, usage=usage
        )
        made = self._own(Resource(desc, pool))
        made.format = format
        return made

    def set_target(self, index: int, surface: Resource | None) -> None:
        """SetRenderTarget of Direct3D 9; a new first target resets viewport and scissor."""
        desc = surface.desc if surface else None
        colorless = surface is not None and surface.root.format is Format.NULL
        self.device.set_render_target(index, desc, colorless=colorless)
        if index == 0 and desc is not None:
            self.mirror.know("viewport", (0, 0, desc.width, desc.height, 0.0, 1.0))
            self.mirror.know("scissor", (0, 0, desc.width, desc.height))

    def create_buffer(self, kind: SurfaceKind, size: int, pool: Pool, usage: int = 0) -> Resource:
        """CreateVertexBuffer and CreateIndexBuffer of ``size`` zero bytes."""
        return self._own(Resource(self.session.create_surface(kind, size, usage=usage), pool))

    def level(self, texture: Resource, index: int) -> Resource:
        """GetSurfaceLevel, GetCubeMapSurface and GetVolumeLevel: the object of subresource
        ``index``, the same one in each call.
        """
        if index not in texture.levels:
            desc = texture.desc
            if desc is not None and desc.kind not in VOLUMES:
                desc = self.device.textures.surface(
                    Texture(desc), index % desc.levels, index // desc.levels
                )
                self.resources[desc.handle] = texture
            level = Resource(desc, texture.pool, owner=texture, index=index)
            texture.levels[index] = level
        return texture.levels[index]

    def resource(self, desc: SurfaceDesc | None) -> Resource | None:
        """The application's object for a driver's surface or texture, None if there is none."""
        if desc is None:
            return None
        found = self.resources.get(desc.handle)
        return self.level(found, desc.index) if found and desc.parent else found

    # Lifetime

    def release(self, thing: Resource | Program) -> None:
        """Note that the application has released an object; it is destroyed once it is unbound."""
        if not isinstance(thing, Resource):
            # Even handles are vertex formats, not objects.
            if thing.handle & 1:
                self._retired.setdefault(thing, (self._releases, thing))
                self._freed(thing)
        elif thing.root.desc is not None and not thing.root.implicit:
            handle = thing.root.desc.handle
            order, _ = self._dying.get(handle, (self._releases, None))
            self._dying[handle] = order, thing.root
            self._freed(handle)
        self._releases += 1

    def revive(self, thing: Resource | Program) -> None:
        """Cancel the release of an object that a getter returned."""
        if not isinstance(thing, Resource):
            self._retired.pop(thing, None)
            self._unheld.discard(thing)
        elif thing.root.desc is not None:
            self._dying.pop(thing.root.desc.handle, None)
            self._unheld.discard(thing.root.desc.handle)

    def sweep(self) -> None:
        """Destroy released objects that are no longer bound, in the order of their release: first
        programs, then memory.

        Only those are visited that no setting has held since the last sweep, since any number may
        be bound.
        """
        for _, thing in sorted(self._taken(self._retired), key=_ORDER):
            self.session.emit(_DELETE[type(thing)], [(thing.handle,)])
        for _, resource in sorted(self._taken(self._dying), key=_ORDER):
            self._destroy(resource)

    def _freed(self, thing: Hashable) -> None:
        """Note a released object, if it is one, that no setting holds now."""
        if (thing in self._retired or thing in self._dying) and thing not in self.mirror.uses:
            self._unheld.add(thing)

    def _taken(self, released: dict[Hashable, _Released]) -> list[_Released]:
        """Remove from ``released`` the objects that nothing holds, and return them."""
        bound = [*self.device.targets.values(), self.device.depth_stencil]
        targets = {desc.parent or desc.handle for desc in bound if desc is not None}
        free = [each for each in self._unheld if each in released and each not in targets]
        self._unheld.difference_update(free)
        return [released.pop(each) for each in free if each not in self.mirror.uses]

    def _destroy(self, resource: Resource) -> None:
        handles = [level.desc.handle for level in resource.levels.values() if level.desc]
        root = resource.desc.handle if resource.desc else 0
        for handle in (*(each for each in handles if each != root), root):
            if self.resources.pop(handle, None) is not None:
                self.session.destroy_surface(handle)

    def close(self) -> None:
        """Destroy the device and all its resources."""
        self.device.close()
        for handle in sorted(self.resources, reverse=True):
            self.session.destroy_surface(handle)
        self.resources.clear()

    # Memory

    def lock(self, resource: Resource) -> None:
        """Wait until the GPU no longer uses a resource."""
        if resource.root.desc is not None and resource.pool is not Pool.SCRATCH:
            self.session.lock(resource.root.desc.handle)

    def store(
        self, resource: Resource, index: int, box: Box, stored: Stored, *, dirty: bool = True
    ) -> None:
        """Unlock: write a box of a subresource; ``dirty`` False is D3DLOCK_NO_DIRTY_UPDATE."""
        root = resource.root
        if root.desc is None:
            return
        store_pixels(self.session, resource, index, box, stored)
        face, level = divmod(resource.index + index, root.desc.levels)
        if dirty:
            self.mark(root, face, box if level == 0 else None)

    def mark(self, texture: Resource, face: int, box: Box | None) -> None:
        """AddDirtyRect and AddDirtyBox of a texture's face; ``box`` None is the whole face."""
        desc = texture.desc
        texture.add_dirty(face, box)
        if desc is None or desc.kind not in TEXTURES:
            return
        whole = box or texture.whole
        if desc.managed:
            sides = whole.left, whole.top, whole.right, whole.bottom, whole.front, whole.back
            self.session.emit(Op.ADDDIRTYBOX, [(desc.handle, sides)])
        self.device.textures.changed([desc])

    def store_bytes(self, buffer: Resource, offset: int, data: bytes) -> None:
        """Unlock of a buffer: write ``data`` at byte ``offset``."""
        if buffer.desc is not None and data:
            room = max(buffer.desc.width - offset, 0)
            self.session.write(buffer.desc.handle, offset, data[:room])

    def evict(self) -> None:
        """EvictManagedResources and ResourceManagerDiscardBytes."""
        self.session.emit(Op.RENDERSTATE, [(_EVICT, 1)])

    # Transfers

    def update_texture(self, source: Resource, target: Resource) -> None:
        """UpdateTexture: copy the dirty boxes of the source."""
        one, other = source.desc, target.desc
        if one is None or other is None:
            raise Unsupported("UpdateTexture of a texture without memory in the driver")
        alike = one.format == other.format or one.kind in VOLUMES
        for face, boxes in source.take_dirty().items():
            for box in boxes if alike else ():
                self._update(source, target, face, box)
            if not alike:
                self._update_face(source, target, face)
        self.device.textures.changed([other])

    def _update(self, source: Resource, target: Resource, face: int, box: Box) -> None:
        one, other = source.desc, target.desc
        assert one is not None
        assert other is not None
        rect = box.left, box.top, box.right, box.bottom
        handles = other.handle, one.handle
        if one.kind is SurfaceKind.VOLUMETEXTURE:
            sides = (*rect, box.front, box.back)
            item = (*handles, box.left, box.top, box.front, sides, 0)
            self.session.emit(Op.VOLUMEBLT, [item])
        elif one.kind is SurfaceKind.TEXTURE:
            self.session.emit(Op.TEXBLT, [(*handles, (box.left, box.top), rect, 0)])
        else:
            self._update_face(source, target, face)

    def _update_face(self, source: Resource, target: Resource, face: int) -> None:
        """Copy one face of a texture level by level, as UpdateTexture does.

        Used where the TEXBLT token cannot: it copies the same rectangle of all faces, and converts
        no formats.
        """
        one, other = source.desc, target.desc
        assert one is not None
        assert other is not None
        skipped = max(one.levels - other.levels, 0)
        skipped = min(skipped, max(one.width.bit_length() - other.width.bit_length(), 0))
        for level in range(min(one.levels - skipped, other.levels)):
            given = self.level(source, face * one.levels + level + skipped)
            made = self.level(target, face * other.levels + level)
            if one.format == other.format:
                self.copy(given, made)
            else:
                self.blit(given, made, (None, None), 0)

    def copy(
        self, source: Resource, target: Resource,
        rect: tuple[int, int, int, int] | None = None, point: tuple[int, int] = (0, 0),
    ) -> None:  # fmt: skip
        """UpdateSurface and CopyRects: copy a rectangle, by default all, to a point."""
        one, other = source.desc, target.desc
        if one is None or other is None:
            raise Unsupported("a copy of a surface without memory in the driver")
        left, top, right, bottom = rect or (0, 0, one.width, one.height)
        place = (*point, point[0] + right - left, point[1] + bottom - top)
        rect = left, top, right, bottom
        if self.session.interface < 9:
            self.session.copy(one, rect, other, place)
        else:
            item = (one.handle, rect, 0, other.handle, place, 0, 0)
            self.session.emit(Op.SURFACEBLT, [item])
        self.wrote(target)

    def blit(
        self, source: Resource, target: Resource,
        rects: tuple[tuple[int, int, int, int] | None, tuple[int, int, int, int] | None],
        flags: int,
    ) -> None:  # fmt: skip
        """StretchRect and GetRenderTargetData: convert, stretch and resolve the first of ``rects``
        to the second; None is the whole surface.
        """
        one, other = source.desc, target.desc
        if one is None or other is None:
            raise Unsupported("a blit of a surface without memory in the driver")
        read = rects[0] or (0, 0, one.width, one.height)
        written = rects[1] or (0, 0, other.width, other.height)
        self.session.copy(one, read, other, written, flags)
        self.wrote(target)

    def fill(self, target: Resource, rect: Any, color: int) -> None:
        """ColorFill of an A8R8G8B8 colour."""
        if target.desc is None:
            raise Unsupported("a fill of a surface without memory in the driver")
        box = box_inside(target.desc, rect)
        if Format(target.desc.format) in COLOR:
            self.session.emit(Op.COLORFILL, [(target.desc.handle, box, color & 0xFFFFFFFF)])
        else:
            self._fill_blocks(target, Box(*box), color)
        self.wrote(target)

    def _fill_blocks(self, target: Resource, box: Box, color: int) -> None:
        """Fill a box by writing its bytes, for formats that the driver cannot fill."""
        assert target.desc is not None
        format = Format(target.desc.format)
        block, (width, height) = block_of(format, color), FORMATS[format].block
        columns = -(-box.right // width) - box.left // width
        rows = -(-box.bottom // height) - box.top // height
        data = block * (columns * rows)
        if format in PLANAR:
            data = host_image(format, columns, rows, data)
        self.lock(target)
        self.store(target, 0, box, Stored(data))

    def wrote(self, target: Resource) -> None:
        """Record that the GPU wrote a surface: levels generated from it are generated again before
        the next draw, and the next Lock is a read-back.
        """
        target.root.drawn.add(target.index)
        if target.root.desc is not None:
            self.device.textures.changed([target.root.desc])

    # Drawing

    def create_declaration(self, elements: Sequence[VertexElement]) -> Declaration:
        """CreateVertexDeclaration."""
        made = self.device.create_vertex_declaration(elements)
        parts = (Element(e.stream, e.offset, e.type, e.usage, e.index, e.method) for e in elements)
        self.layouts[made.handle] = layout_of_elements(tuple(parts))
        return made

    def vertex_layout(self) -> VertexLayout | None:
        """The vertex layout of fixed-function processing; None with a vertex shader."""
        if self.session.interface < 9:
            handle, shader = self.mirror.get("vertex_shader"), None
        else:
            format, shader = self.mirror.get("format"), self.mirror.get("vertex_shader")
            handle = format.handle if format else 0
        return None if shader is not None else self.layout_of(handle)

    def layout_of(self, handle: int) -> VertexLayout | None:
        """The vertex layout of ``handle``, which is a declaration's or a vertex format; None if it
        is neither.
        """
        if handle & 1 or not handle:
            return self.layouts.get(handle)
        return fvf_layout(handle)

    def set_filter(self, texture: Resource, filter: TextureFilter) -> None:
        """SetAutoGenFilterType; ignored without generated levels."""
        if texture.texture is not None and self.device.textures.generates(texture.texture):
            self.device.textures.set_filter(texture.texture, filter)

    def index_buffer(self, buffer: Resource | None, format: Format) -> IndexBuffer | None:
        """The index buffer for SetIndices, None if ``buffer`` has no memory in the driver."""
        if buffer is None or buffer.desc is None:
            return None
        return IndexBuffer(buffer.desc, INDEX_BYTES[format])

    def present(self, chain: Chain, source: Any = None, target: Any = None) -> None:
        """Present a chain, and destroy released objects that are no longer used."""
        chain.present(source, target)
        self.sweep()
