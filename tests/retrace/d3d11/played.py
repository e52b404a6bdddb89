"""A traced program of Direct3D 10 or 11 with an object of every kind, whose calls are played."""

from __future__ import annotations

from typing import Any

from dp2emu.capture.apitrace import TraceCall
from dp2emu.capture.records import Annotation, EntryCalled, Observed, Pictured, Record
from dp2emu.capture.values import Memory, Structure
from dp2emu.dp2.driver import Driver
from dp2emu.retrace import all_methods
from dp2emu.retrace.program import Program
from tests.retrace.calls import Pointer, call, struct
from tests.shader.sm4.making import container

all_methods()

RGBA8, DEPTH, FLOAT32 = 28, 45, 41
_NAMES = """
    device context deferred buffer constants dynamic staged texture copied volume line multiple
    single flat srv rtv dsv uav typed floats layout vs gs ps hs ds cs so query predicate timestamp
    rasterizer blend depth sampler list arguments linkage block new other counted read
"""
ADDRESS = {name: 0x1000 * place for place, name in enumerate(_NAMES.split(), 1)}
_NAME = {address: name for name, address in ADDRESS.items()}


def at(name: str) -> Pointer:
    """The address of an object by name."""
    return Pointer(ADDRESS[name])


def to(*names: str) -> tuple[Pointer, ...]:
    """An array of addresses; of one, a pointer to it."""
    return tuple(map(at, names))


def desc(name: str, **members: Any) -> tuple[Any]:
    """A pointer to a structure."""
    return (struct(name, **members),)


def single() -> Any:
    """DXGI_SAMPLE_DESC of one sample."""
    return struct("DXGI_SAMPLE_DESC", Count=1, Quality=0)


def buffer_desc(size: int = 256, **more: int) -> tuple[Any]:
    """D3D11_BUFFER_DESC."""
    rest = {"Usage": 0, "BindFlags": 0, "CPUAccessFlags": 0, "MiscFlags": 0} | more
    return desc("BUFFER_DESC", ByteWidth=size, **rest)


def texture_desc(size: tuple[int, ...] = (8, 4), **more: Any) -> tuple[Any]:
    """D3D11_TEXTURE1D_DESC to D3D11_TEXTURE3D_DESC by the number of sides."""
    sides = dict(zip(("Width", "Height", "Depth"), size, strict=False))
    rest = {"MipLevels": 1, "Format": RGBA8, "Usage": 0, "BindFlags": 8}
    rest |= {"CPUAccessFlags": 0, "MiscFlags": 0}
    if len(size) < 3:
        rest["ArraySize"] = 1
    if len(size) == 2:
        rest["SampleDesc"] = single()
    return desc(f"TEXTURE{len(size)}D_DESC", **sides, **rest | more)


class Played:
    """The program; its objects are at ``ADDRESS``.  Mutable: calls are counted and recorded."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.records: list[Record] = []
        self.calls: list[TraceCall] = []
        self.program = Program(Driver(), self.records.append)
        self._number = 0
        self._told = 0
        context = {} if version == 10 else {"ppImmediateContext": to("context")}
        self.play(f"D3D{version}CreateDevice", ppDevice=to("device"), **context)
        if version == 10:
            self.of("device", "ID3D10Device::QueryInterface", ppvObj=to("context"))
        self._make()

    def thing(self, name: str) -> Any:
        """The object of a name."""
        return self.program.objects.get(ADDRESS[name])

    def losses(self) -> list[str]:
        """What was lost since the last call of this method."""
        told = [f"{loss.name}: {loss.reason}" for loss in self.program.losses]
        new, self._told = told[self._told :], len(told)
        return new

    def play(self, name: str, *, result: Any = 0, **arguments: Any) -> list[str]:
        """Play a call; returns its records as text, without those that ask for sizes."""
        before, self._number = len(self.records), self._number + 1
        self.calls.append(call(name, number=self._number, result=result, **arguments))
        self.program.play(self.calls[-1])
        shown = map(self._shown, self.records[before:])
        return [each for each in shown if not each.startswith("CalcPrivate")]

    def of(self, name: str, method: str, *, result: Any = 0, **arguments: Any) -> list[str]:
        """Play a method of the object of a name."""
        return self.play(method, result=result, this=at(name), **arguments)

    def create(self, kind: str, name: str, **arguments: Any) -> list[str]:
        """Play a method of the device that creates the object of a name."""
        method = f"ID3D{self.version}Device::Create{kind}"
        return self.of("device", method, **arguments, ppNew=to(name))

    def _shown(self, record: Record) -> str:
        if isinstance(record, EntryCalled):
            return f"{record.entry}({', '.join(map(self._value, record.arguments))})"
        if isinstance(record, Annotation):
            return f"{record.key}: {record.text}"
        if isinstance(record, Pictured):
            return f"picture of {self._object(record.handle)} {record.index}"
        if isinstance(record, Observed):
            return f"{record.hr:#x} {record.data.hex()} of {self._object(record.query)}"
        return type(record).__name__

    def _value(self, value: object) -> str:
        if isinstance(value, Memory):
            return self._object(value.number)
        if isinstance(value, Structure):
            return value.name
        if isinstance(value, tuple):
            return f"[{' '.join(map(self._value, value))}]"
        return value.hex() if isinstance(value, bytes) else str(value)

    def _object(self, number: int) -> str:
        """The name of a driver's object; a new one if the program does not have it yet."""
        for address, thing in self.program.objects:
            memory = getattr(thing, "memory", None)
            if memory is not None and self.program.recorder.memories.number(memory) == number:
                return _NAME.get(address, hex(address))
        return "new" if number else "nothing"

    # Objects

    def _make(self) -> None:
        self._make_resources()
        self._make_views()
        self._make_states()
        if self.version == 11:
            self._make_later()

    def _make_resources(self) -> None:
        none: dict[str, Any] = {"pInitialData": None}
        data = desc("DATA", pSysMem=bytes(range(256)), SysMemPitch=0, SysMemSlicePitch=0)
        self.create("Buffer", "buffer", pDesc=buffer_desc(BindFlags=3), pInitialData=data)
        self.create("Buffer", "constants", pDesc=buffer_desc(BindFlags=4), **none)
        self.create("Buffer", "so", pDesc=buffer_desc(BindFlags=0x10), **none)
        dynamic = buffer_desc(BindFlags=1, Usage=2, CPUAccessFlags=0x10000)
        self.create("Buffer", "dynamic", pDesc=dynamic, **none)
        staged = texture_desc(Usage=3, BindFlags=0, CPUAccessFlags=0x30000)
        self.create("Texture2D", "staged", pDesc=staged, **none)
        clamped = 0x80 if self.version == 11 else 0
        levels = texture_desc(MipLevels=2, BindFlags=0x28, MiscFlags=1 | clamped)
        self.create("Texture2D", "texture", pDesc=levels, **none)
        self.create("Texture2D", "copied", pDesc=texture_desc(MipLevels=2), **none)
        multiple = struct("DXGI_SAMPLE_DESC", Count=4, Quality=0)
        target = texture_desc(BindFlags=0x20, SampleDesc=multiple)
        self.create("Texture2D", "multiple", pDesc=target, **none)
        self.create("Texture2D", "single", pDesc=texture_desc(BindFlags=0x28), **none)
        flat = texture_desc(Format=DEPTH, BindFlags=0x40)
        self.create("Texture2D", "flat", pDesc=flat, **none)
        mapped = {"Usage": 3, "BindFlags": 0, "CPUAccessFlags": 0x30000}
        self.create("Texture1D", "line", pDesc=texture_desc((8,), **mapped), **none)
        self.create("Texture3D", "volume", pDesc=texture_desc((4, 2, 2), **mapped), **none)

    def _make_views(self) -> None:
        self.create("ShaderResourceView", "srv", pResource=at("texture"), pDesc=None)
        self.create("RenderTargetView", "rtv", pResource=at("single"), pDesc=None)
        self.create("DepthStencilView", "dsv", pResource=at("flat"), pDesc=None)

    def _make_states(self) -> None:
        for stage, name, shader in (
            ("Vertex", "vs", "vs_pass"), ("Geometry", "gs", "gs_pass_tri"),
            ("Pixel", "ps", "ps_color"),
        ):  # fmt: skip
            self.create(f"{stage}Shader", name, pShaderBytecode=container(shader))
        elements = tuple(
            struct(
                "INPUT_ELEMENT_DESC", SemanticName=name, SemanticIndex=0, Format=2,
                InputSlot=0, AlignedByteOffset=offset, InputSlotClass=0, InstanceDataStepRate=0,
            )
            for name, offset in (("POSITION", 0), ("COLOR", 16))
        )  # fmt: skip
        code = {"pShaderBytecodeWithInputSignature": container("vs_pass")}
        self.create("InputLayout", "layout", pInputElementDescs=elements, **code)
        self.create("RasterizerState", "rasterizer", pDesc=desc("D", FillMode=3, CullMode=1))
        blend = desc("BLEND_DESC", AlphaToCoverageEnable=0, RenderTargetWriteMask=(15,) * 8)
        self.create("BlendState", "blend", pDesc=blend)
        self.create("DepthStencilState", "depth", pDesc=desc("D", DepthEnable=0))
        self.create("SamplerState", "sampler", pDesc=desc("SAMPLER_DESC", Filter=0))
        self.create("Query", "query", pQueryDesc=desc("QUERY_DESC", Query=1, MiscFlags=0))
        self.create("Query", "timestamp", pQueryDesc=desc("QUERY_DESC", Query=2, MiscFlags=0))
        named = {"pPredicateDesc": desc("QUERY_DESC", Query=5, MiscFlags=0)}
        self.create("Predicate", "predicate", **named)

    def _make_later(self) -> None:
        for stage, name, shader in (
            ("Hull", "hs", "hs5_tri"), ("Domain", "ds", "ds5_tri"), ("Compute", "cs", "cs5_fill"),
        ):  # fmt: skip
            self.create(f"{stage}Shader", name, pShaderBytecode=container(shader))
        self.create("DeferredContext", "deferred", ContextFlags=0)
        given = {"Usage": 0, "BindFlags": 0x80, "CPUAccessFlags": 0}
        counted = desc("B", ByteWidth=256, **given, MiscFlags=0x40, StructureByteStride=16)
        self.create("Buffer", "counted", pDesc=counted, pInitialData=None)
        view = struct("UAV", FirstElement=0, NumElements=16, Flags=2)
        described = desc("D", Format=0, ViewDimension=1, Buffer=view)
        self.create("UnorderedAccessView", "uav", pResource=at("counted"), pDesc=described)
        view = struct("UAV", FirstElement=0, NumElements=64, Flags=0)
        described = desc("D", Format=FLOAT32, ViewDimension=1, Buffer=view)
        self.create("Buffer", "floats", pDesc=buffer_desc(BindFlags=0x80), pInitialData=None)
        self.create("UnorderedAccessView", "typed", pResource=at("floats"), pDesc=described)
        indirect = buffer_desc(MiscFlags=0x10)
        self.create("Buffer", "arguments", pDesc=indirect, pInitialData=None)
        self.create("ClassLinkage", "linkage")
