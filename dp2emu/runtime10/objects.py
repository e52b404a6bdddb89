"""Objects of an application's device: their references, descriptions and driver objects.

Source: the Direct3D 11 documentation of IUnknown, ID3D11DeviceChild, ID3D11Resource, ID3D11View
and ID3D11Asynchronous.
"""

from __future__ import annotations

from typing import Any, Protocol

from dp2emu.argument_check import checked
from dp2emu.ddi10.resources.resource import CreateResource, ResourceType, Usage
from dp2emu.runtime10 import descriptions
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.driver_device import Resource as DriverResource
from dp2emu.runtime10.query import Data
from dp2emu.runtime10.query import Query as DriverQuery
from dp2emu.runtime10.signatures import Code
from dp2emu.runtime10.views import ViewDesc
from dp2emu.shader.sm4.interfaces import Interfaces

_UINT = 0xFFFFFFFF
PRIORITY_NORMAL = 0x78000000
"""DXGI_RESOURCE_PRIORITY_NORMAL, the eviction priority of a new resource."""


class Owner(Protocol):
    """A device, as its objects use it."""

    def keep(self, child: DeviceChild) -> None:
        """Know a new object by its memory."""

    def discard(self, child: DeviceChild) -> None:
        """Destroy an object that is not used any more."""

    def prioritize(self, resource: Resource, priority: int) -> None:
        """Tell the driver the eviction priority of a resource."""


@checked
class DeviceChild:
    """An object of a device, with one reference at first.  Mutable: references are counted.

    ``memory`` is the driver's object, ``noun`` is in the names of the functions that create and
    destroy it, ``uses`` are objects that live as long as it does.  ``users`` counts what keeps it
    alive besides references: views, slots of contexts in which it is bound, and command lists.
    """

    noun = ""

    def __init__(self, owner: Owner, memory: bytearray, *uses: DeviceChild) -> None:
        self.owner = owner
        self.memory = memory
        self.references = 1
        self.users = 0
        self.uses = uses
        self.private_data: dict[str, bytes] = {}
        for used in uses:
            used.users += 1

    def add_ref(self) -> int:
        """AddRef: count a reference; returns the number of references."""
        self.references += 1
        return self.references

    def release(self) -> int:
        """Release: the driver's object is destroyed with the last reference, once it is not bound
        and no view of it is left; returns the number of references that remain.
        """
        if self.references:
            self.references -= 1
            self._check_unused()
        return self.references

    def drop(self) -> None:
        """Count one user less."""
        self.users -= 1
        if not self.users:
            self._check_unused()

    def _check_unused(self) -> None:
        if not self.references and not self.users:
            self.owner.discard(self)

    def get_device(self) -> Owner:
        """GetDevice; unlike in C++, without a reference more."""
        return self.owner

    def set_private_data(self, guid: str, data: bytes | None) -> None:
        """SetPrivateData: keep ``data`` under ``guid``, a name or GUID; None removes it."""
        self.private_data.pop(guid, None)
        if data is not None:
            self.private_data[guid] = data

    def get_private_data(self, guid: str) -> bytes | None:
        """GetPrivateData under ``guid``, a name or GUID; None if there is none."""
        return self.private_data.get(guid)


@checked
class Resource(DeviceChild):
    """ID3D11Resource: a buffer or texture; ``desc`` is its description.

    One that is ``read_only`` has no views for output: a back buffer behind the first.
    """

    noun = "Resource"

    def __init__(self, owner: Owner, made: DriverResource, desc: Any) -> None:
        super().__init__(owner, made.memory)
        self.driver = made
        self.desc = desc
        self.usage = Usage(made.desc.Usage)
        self.min_lod = 0.0
        self.eviction_priority = PRIORITY_NORMAL
        self.read_only = False

    def set_eviction_priority(self, priority: int) -> None:
        """SetEvictionPriority, a DXGI_RESOURCE_PRIORITY.

        Raises Refused (E_INVALIDARG) for a number beyond UINT.
        """
        if not 0 <= priority <= _UINT:
            raise Refused(Result.E_INVALIDARG, f"priority {priority}")
        self.owner.prioritize(self, priority)
        self.eviction_priority = priority

    def get_eviction_priority(self) -> int:
        """GetEvictionPriority, a DXGI_RESOURCE_PRIORITY."""
        return self.eviction_priority

    @property
    def ddi(self) -> CreateResource:
        """The DDI structure that created the driver's resource."""
        return self.driver.desc

    @property
    def is_buffer(self) -> bool:
        """Whether it is a buffer, not a texture."""
        return self.ddi.ResourceDimension == ResourceType.BUFFER


@checked
class Buffer(Resource):
    """ID3D11Buffer."""

    desc: descriptions.BufferDesc


@checked
class Texture1D(Resource):
    """ID3D11Texture1D."""

    desc: descriptions.Texture1DDesc


@checked
class Texture2D(Resource):
    """ID3D11Texture2D."""

    desc: descriptions.Texture2DDesc


@checked
class Texture3D(Resource):
    """ID3D11Texture3D."""

    desc: descriptions.Texture3DDesc


@checked
class View(DeviceChild):
    """ID3D11View: a view of ``resource``; ``desc`` is None for the default view."""

    def __init__(self, resource: Resource, memory: bytearray, desc: ViewDesc | None) -> None:
        super().__init__(resource.owner, memory, resource)
        self.resource = resource
        self.desc = desc

    def get_resource(self) -> Resource:
        """GetResource: the resource, with a reference more."""
        self.resource.add_ref()
        return self.resource


@checked
class ShaderResourceView(View):
    """ID3D11ShaderResourceView."""

    noun = "ShaderResourceView"


@checked
class RenderTargetView(View):
    """ID3D11RenderTargetView."""

    noun = "RenderTargetView"


@checked
class DepthStencilView(View):
    """ID3D11DepthStencilView."""

    noun = "DepthStencilView"


@checked
class UnorderedAccessView(View):
    """ID3D11UnorderedAccessView."""

    noun = "UnorderedAccessView"


@checked
class State(DeviceChild):
    """A state object; ``desc`` is its description."""

    def __init__(self, owner: Owner, memory: bytearray, desc: Any) -> None:
        super().__init__(owner, memory)
        self.desc = desc


@checked
class BlendState(State):
    """ID3D11BlendState."""

    noun = "BlendState"
    desc: descriptions.BlendDesc


@checked
class DepthStencilState(State):
    """ID3D11DepthStencilState."""

    noun = "DepthStencilState"
    desc: descriptions.DepthStencilDesc


@checked
class RasterizerState(State):
    """ID3D11RasterizerState."""

    noun = "RasterizerState"
    desc: descriptions.RasterizerDesc


@checked
class SamplerState(State):
    """ID3D11SamplerState."""

    noun = "Sampler"
    desc: descriptions.SamplerDesc


@checked
class InputLayout(DeviceChild):
    """ID3D11InputLayout."""

    noun = "ElementLayout"


@checked
class Shader(DeviceChild):
    """A shader; ``code`` is the compiled shader, ``stage`` the stage's name in the DDI, and
    ``interfaces`` are the names of its class linkage if it was created with one.
    """

    noun = "Shader"
    stage = ""

    def __init__(
        self, owner: Owner, memory: bytearray, code: Code, interfaces: Interfaces | None = None
    ) -> None:
        super().__init__(owner, memory)
        self.code = code
        self.interfaces = interfaces


@checked
class VertexShader(Shader):
    """ID3D11VertexShader."""

    stage = "Vertex"


@checked
class HullShader(Shader):
    """ID3D11HullShader."""

    stage = "Hull"


@checked
class DomainShader(Shader):
    """ID3D11DomainShader."""

    stage = "Domain"


@checked
class GeometryShader(Shader):
    """ID3D11GeometryShader."""

    stage = "Geometry"


@checked
class PixelShader(Shader):
    """ID3D11PixelShader."""

    stage = "Pixel"


@checked
class ComputeShader(Shader):
    """ID3D11ComputeShader."""

    stage = "Compute"


@checked
class Query(DeviceChild):
    """ID3D11Query or ID3D11Predicate; ``desc`` is its description."""

    noun = "Query"

    def __init__(self, owner: Owner, made: DriverQuery, desc: Any) -> None:
        super().__init__(owner, made.memory)
        self.driver = made
        self.desc = desc

    def get_data_size(self) -> int:
        """GetDataSize, in bytes."""
        return self.driver.data_size

    def value(self, data: bytes | Data) -> int | float | dict[str, int | float]:
        """What GetData returned, or its bytes, as a number, or if it is a structure, as its
        numbers by member name.

        Raises ArgumentError for data of another size than ``get_data_size``, such as none.
        """
        return self.driver.value((data.data or b"") if isinstance(data, Data) else data)


@checked
class Predicate(Query):
    """ID3D11Predicate."""


@checked
class Counter(Query):
    """ID3D11Counter."""
