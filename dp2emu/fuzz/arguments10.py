"""Hostile arguments of API calls of Direct3D 10 and 11, by the type hints of the methods."""

from __future__ import annotations

import inspect
import math
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple, Union, get_args, get_origin

from dp2emu.argument_check import hints_of
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import Usage
from dp2emu.fuzz import hostile
from dp2emu.fuzz.hostile import often
from dp2emu.runtime10 import descriptions as d
from dp2emu.runtime10.dxgi import (
    ModeDesc,
    Point,
    PresentParameters,
    SurfaceDesc,
    SwapChainDesc,
    SwapChainDesc1,
    SwapChainFullscreenDesc,
    Window,
)
from dp2emu.runtime10.objects import DeviceChild
from dp2emu.runtime10.streamout import StreamDeclaration
from dp2emu.runtime10.views import Span, ViewDesc, ViewDimension
from dp2emu.shader.sm4 import assemble
from dp2emu.shader.sm4.container import Chunk, pack

F = DxgiFormat
_FORMATS = tuple(format.value for format in DxgiFormat)
_USUAL_FORMATS = tuple(format.value for format in (
    F.R8G8B8A8_UNORM, F.R8G8B8A8_TYPELESS, F.R8G8B8A8_UINT, F.R32_FLOAT, F.R32_UINT,
    F.R32_TYPELESS, F.D24_UNORM_S8_UINT, F.D32_FLOAT, F.R16_UINT, F.BC1_UNORM, F.UNKNOWN,
    F.R32G32B32A32_FLOAT, F.B8G8R8A8_UNORM,
))  # fmt: skip
_WRITE, _READ = 0x10000, 0x20000
_RAW, _STRUCTURED, _ARGUMENTS, _CUBE, _MIPS, _CLAMP = 0x20, 0x40, 0x10, 0x4, 0x1, 0x80
_RUBBISH = (None, -1, 1 << 70, math.nan, -math.inf, 1.5, "text", b"", b"abc", (), [None], object())
"""Arguments of other types than any annotation names."""
_MANY = 33
"""Number of elements of a sequence that is too long for all slots but shader resources."""

# Shaders

_PASSED = """dcl_input v0.xyzw
dcl_input v1.xyzw
dcl_output_siv o0.xyzw, position
dcl_output o1.xyzw
mov o0, v0
mov o1, v1
ret"""
_TEXTS: dict[str, tuple[str, ...]] = {
    "vertex": (
        f"vs_4_0\n{_PASSED}",
        "vs_4_0\ndcl_constantbuffer cb0[2], immediateIndexed\ndcl_input v0.xyzw\n"
        "dcl_output_siv o0.xyzw, position\ndcl_output o1.xyzw\nadd o0, v0, cb0[0]\n"
        "mov o1, cb0[1]\nret",
    ),
    "pixel": (
        "ps_4_0\ndcl_input_ps linear v1.xyzw\ndcl_output o0.xyzw\nmov o0, v1\nret",
        "ps_4_0\ndcl_sampler s0, mode_default\n"
        "dcl_resource_texture2d (float,float,float,float) t0\ndcl_input_ps linear v1.xyzw\n"
        "dcl_output o0.xyzw\nsample o0, v1, t0, s0\nret",
        "ps_5_0\ndcl_uav_raw u1\ndcl_input_ps linear v1.xyzw\ndcl_output o0.xyzw\n"
        "store_raw u1.x, l(4), v1.x\nmov o0, v1\nret",
    ),
    "geometry": (
        "gs_4_0\ndcl_input_siv v[3][0].xyzw, position\ndcl_input v[3][1].xyzw\n"
        "dcl_inputprimitive triangle\ndcl_outputtopology trianglestrip\n"
        "dcl_output_siv o0.xyzw, position\ndcl_output o1.xyzw\ndcl_maxout 3\n"
        + "".join(f"mov o0, v[{n}][0]\nmov o1, v[{n}][1]\nemit\n" for n in range(3))
        + "ret",
    ),
    "compute": (
        "cs_5_0\ndcl_uav_raw u0\ndcl_input vThreadID.xyz\ndcl_temps 1\ndcl_thread_group 4, 1, 1\n"
        "ishl r0.x, vThreadID.x, l(2)\nstore_raw u0.x, r0.x, vThreadID.x\nret",
        "cs_5_0\ndcl_resource_raw t0\ndcl_uav_raw u0\ndcl_input vThreadID.xyz\ndcl_temps 2\n"
        "dcl_thread_group 2, 2, 1\nishl r0.x, vThreadID.x, l(2)\nld_raw r1.x, r0.x, t0.x\n"
        "imm_atomic_iadd r1.y, u0, r0.x, r1.x\nret",
        "cs_5_0\ndcl_function_body fb0\ndcl_function_body fb1\ndcl_function_table ft0, 1 { 0 }\n"
        "dcl_function_table ft1, 1 { 1 }\n"
        "dcl_interface fp0, immediateIndexed, 1 { 65538, 0, 1 }\ndcl_uav_raw u0\ndcl_temps 2\n"
        "dcl_thread_group 1, 1, 1\nfcall 0, fp0[0]\nstore_raw u0.xyzw, l(0), r0.xyzw\nret\n"
        "label fb0\niadd r0.xyzw, cb[this0.x + 0][this0.y + 0].xyzw, l(1, 1, 1, 1)\nret\n"
        "label fb1\nmov r0.xyzw, cb[this0.x + 0][this0.y + 1].xyzw\nret",
    ),
    "hull": (
        "hs_5_0\nhs_decls\ndcl_input_control_point_count 3\ndcl_output_control_point_count 3\n"
        "dcl_tessellator_domain domain_tri\ndcl_tessellator_partitioning partitioning_integer\n"
        "dcl_tessellator_output_primitive output_triangle_cw\nhs_fork_phase\n"
        "dcl_output_siv o0.x, finalTriUeq0EdgeTessFactor\nmov o0.x, l(2.0)\nret\nhs_fork_phase\n"
        "dcl_output_siv o1.x, finalTriVeq0EdgeTessFactor\nmov o1.x, l(2.0)\nret\nhs_fork_phase\n"
        "dcl_output_siv o2.x, finalTriWeq0EdgeTessFactor\nmov o2.x, l(2.0)\nret\nhs_fork_phase\n"
        "dcl_output_siv o3.x, finalTriInsideTessFactor\nmov o3.x, l(2.0)\nret",
    ),
    "domain": (
        "ds_5_0\ndcl_input_control_point_count 3\ndcl_tessellator_domain domain_tri\n"
        "dcl_input vDomain.xyz\ndcl_output_siv o0.xyzw, position\ndcl_output o1.xyzw\n"
        "mov o0.xyz, vDomain.xyzx\nmov o0.w, l(1.0)\nmov o1, vDomain.xyzz\nret",
    ),
}  # fmt: skip
"""Texts of shaders by their stage, which follow each other in a pipeline."""
CLASSES, INSTANCE = ("cOne", "cTwo"), "g_two"
"""Names of the classes of the shader with an interface, and of an instance of the last one."""
_INTERFACES = struct.pack(
    "<7I I4H I4H I6H 4I 2H2I 16s", 1, 2, 1, 1, 84, 28, 68, 96, 0, 16, 0, 0, 101, 1, 16, 0, 0,
    106, 1, 1, 2, 1, 0xFFFF, 0xFFFF, 1, 2, 84, 88, 0, 1, 0, 1, b"cOne\0cTwo\0g_two",
)  # fmt: skip
"""Chunk IFCE of that shader: tables 0 and 1 of interface 0, data of the instance from vector 1 of
constant buffer 2 on."""


@cache
def bytecode(stage: str, number: int) -> bytes:
    """Return a compiled shader of a stage as a container."""
    texts = _TEXTS[stage]
    text = texts[number % len(texts)]
    names = [Chunk("IFCE", _INTERFACES)] if "dcl_interface" in text else []
    return pack([*names, Chunk("SHEX", assemble(text))])


# Descriptions

_R8, _D24 = F.R8G8B8A8_UNORM.value, F.D24_UNORM_S8_UINT.value
_FOUR = d.SampleDesc(4)
_GREY = d.RenderTargetBlend(1, 5, 6)
USUAL: dict[type, tuple[Any, ...]] = {
    d.BufferDesc: (
        d.BufferDesc(256, BindFlags=1), d.BufferDesc(64, 2, 4, _WRITE),
        d.BufferDesc(96, BindFlags=2), d.BufferDesc(64, BindFlags=4),
        d.BufferDesc(128, 0, 0x88, 0, _RAW), d.BufferDesc(128, 0, 0x88, 0, _STRUCTURED, 16),
        d.BufferDesc(256, 3, 0, _READ), d.BufferDesc(256, 3, 0, _READ | _WRITE),
        d.BufferDesc(256, 2, 1, _WRITE), d.BufferDesc(160, BindFlags=0x11),
        d.BufferDesc(64, 0, 0x80, 0, _ARGUMENTS), d.BufferDesc(256, BindFlags=8),
        d.BufferDesc(64, 1, 1), d.BufferDesc(128, 2, 8, _WRITE),
    ),
    d.Texture1DDesc: (
        d.Texture1DDesc(16, Format=_R8, BindFlags=8),
        d.Texture1DDesc(8, 0, 2, _R8, BindFlags=0x28),
        d.Texture1DDesc(16, 1, 1, _R8, 3, 0, _READ),
    ),
    d.Texture2DDesc: (
        d.Texture2DDesc(16, 16, Format=_R8, BindFlags=0x28),
        d.Texture2DDesc(16, 16, Format=_D24, BindFlags=0x40),
        d.Texture2DDesc(16, 16, Format=F.R32_TYPELESS.value, BindFlags=0x48),
        d.Texture2DDesc(8, 8, 0, 1, _R8, BindFlags=8),
        d.Texture2DDesc(8, 8, 1, 1, F.BC1_UNORM.value, BindFlags=8),
        d.Texture2DDesc(8, 8, 1, 4, _R8, BindFlags=0x28),
        d.Texture2DDesc(8, 8, 0, 6, _R8, BindFlags=0x28, MiscFlags=_CUBE),
        d.Texture2DDesc(16, 16, 1, 1, _R8, _FOUR, BindFlags=0x20),
        d.Texture2DDesc(16, 16, Format=_R8, Usage=3, CPUAccessFlags=_READ),
        d.Texture2DDesc(8, 8, Format=_R8, Usage=2, BindFlags=8, CPUAccessFlags=_WRITE),
        d.Texture2DDesc(8, 8, Format=F.R32_UINT.value, BindFlags=0x88),
        d.Texture2DDesc(8, 8, 0, 1, _R8, BindFlags=0x28, MiscFlags=_MIPS),
        d.Texture2DDesc(8, 8, 0, 1, _R8, BindFlags=8, MiscFlags=_CLAMP),
        d.Texture2DDesc(16, 16, 0, 2, _R8, Usage=3, CPUAccessFlags=_READ | _WRITE),
    ),
    d.Texture3DDesc: (
        d.Texture3DDesc(4, 4, 4, Format=_R8, BindFlags=0x28),
        d.Texture3DDesc(4, 4, 2, 0, _R8, BindFlags=8),
        d.Texture3DDesc(4, 4, 2, 1, _R8, 3, 0, _READ),
    ),
    d.SampleDesc: (d.SampleDesc(), _FOUR, d.SampleDesc(3), d.SampleDesc(4, 0xFFFFFFFF)),
    d.SubresourceData: (d.SubresourceData(bytes(range(256)) * 4, 64, 256),
                        d.SubresourceData(b"abc", 64, 256)),
    d.BlendDesc: (d.BlendDesc(), d.BlendDesc(0, 0, (_GREY,) * 8), d.BlendDesc(1, 1)),
    d.DepthStencilDesc: (d.DepthStencilDesc(), d.DepthStencilDesc(0), d.DepthStencilDesc(1, 1, 8)),
    d.RasterizerDesc: (d.RasterizerDesc(), d.RasterizerDesc(CullMode=1)),
    d.SamplerDesc: (d.SamplerDesc(),),
    d.QueryDesc: (*tuple(d.QueryDesc(number) for number in range(9)), d.QueryDesc(5, 1)),
    d.Box: (d.Box(0, 0, 0, 4, 4, 1), d.Box(4, 0, 0, 8, 1, 1), d.Box(4, 4, 0, 4, 4, 1)),
    d.Rect: (d.Rect(0, 0, 16, 16), d.Rect(2, 3, 5, 9), d.Rect(9, 9, 1, 1)),
    d.Viewport: (d.Viewport(0.0, 0.0, 16.0, 16.0), d.Viewport(1.5, 2.0, 8.0, 9.5, 0.25, 0.75)),
    d.InputElementDesc: (d.InputElementDesc("v", 0, F.R32G32B32A32_FLOAT.value, 0, 0),
                         d.InputElementDesc("v", 1, F.R32G32B32A32_FLOAT.value, 0)),
    StreamDeclaration: (StreamDeclaration(0, "o", 1, 0, 4, 0),
                        StreamDeclaration(0, "SV_Position", 0, 0, 4, 0)),
    d.CounterDesc: (*map(d.CounterDesc, range(0x40000000, 0x40000004)),
                    *map(d.CounterDesc, (0, 5, 17))),
    SwapChainDesc1: (SwapChainDesc1(16, 16, _R8),
                    SwapChainDesc1(8, 8, _R8, BufferCount=2, SwapEffect=1),
                    SwapChainDesc1(8, 4, F.B8G8R8A8_UNORM.value, BufferUsage=0x30),
                    SwapChainDesc1(8, 8, _R8, BufferCount=2, SwapEffect=3),
                    SwapChainDesc1(0, 0, _R8, BufferCount=3, SwapEffect=4, Flags=0x840)),
    SwapChainDesc: (SwapChainDesc(ModeDesc(16, 16, Format=_R8), OutputWindow=Window(16, 16)),
                    SwapChainDesc(ModeDesc(Format=_R8), OutputWindow=Window(8, 4)),
                    SwapChainDesc(ModeDesc(8, 8, Format=_R8))),
    SwapChainFullscreenDesc: (SwapChainFullscreenDesc(),),
    SurfaceDesc: (SurfaceDesc(8, 8, _R8), SurfaceDesc(4, 4, F.BC1_UNORM.value)),
    ModeDesc: (ModeDesc(640, 480, Format=_R8), ModeDesc(), ModeDesc(8, 8)),
    PresentParameters: (PresentParameters(), PresentParameters((d.Rect(0, 0, 4, 4),)),
                        PresentParameters((d.Rect(0, 0, 4, 4),), d.Rect(0, 4, 4, 8), Point(0, 2)),
                        PresentParameters((d.Rect(0, 0, 99, 4),))),
    ViewDesc: (ViewDesc(), ViewDesc(_R8), ViewDesc(slices=Span(0, 1)), ViewDesc(levels=Span(1, 1)),
               ViewDesc(F.R32_TYPELESS.value, elements=Span(0, 8), flags=1),
               ViewDesc(F.R32_UINT.value, elements=Span(0, 8)), ViewDesc(F.D32_FLOAT.value),
               ViewDesc(F.R32_FLOAT.value), ViewDesc(0, elements=Span(0, 8), flags=2),
               ViewDesc(0, elements=Span(0, 8), flags=4)),
    Span: (Span(), Span(1), Span(0, 1), Span(2, 3), Span(0, 0xFFFFFFFF), Span(-1, 2)),
}  # fmt: skip
"""Descriptions that the runtime mostly accepts, by their type."""

_NUMBERS: dict[str, tuple[int, ...]] = {
    "start_slot": (0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 7, 13, 31, 127, 128),
    "count": (0, 1, 2, 4, 8, 14, 16, 128),
    "topology": (0, 1, 2, 3, 4, 4, 4, 5, 10, 13, 33, 35, 64, 65),
    "index": (0, 0, 0, 1, 2, 5),
    "flags": (0, 0, 0, 1, 2, 3, 4, 6, 0x100000),
    "adapter": (0, 0, 0, 1), "output": (0, 0, 0, 1), "buffer": (0, 0, 0, 1, 2),
    "usage": (0, 0x10, 0x20, 0x30, 0x400), "LowPart": (1, 0, 2), "HighPart": (0,),
    "first_constant": (0, 0, 16, 1), "num_constants": (16, 32, 4096, 4112, 7),
    "sample_mask": (0xFFFFFFFF, 1, 0),
    "vertex_count": (0, 1, 3, 3, 6, 7),
    "index_count": (0, 1, 3, 3, 6, 7),
    "instance_count": (0, 1, 1, 2),
    **dict.fromkeys("xyz", (0, 0, 1, 1, 2)),
    "target_index": (0, 0, 0, 0, 1, 7), "source_index": (0, 0, 0, 0, 1, 7),
    "Width": hostile.SIDES, "Height": hostile.SIDES, "Depth": (1, 2, 3, 4),
    "ByteWidth": (0, 1, 4, 16, 48, 100, 256, 65536, 65552),
    "MipLevels": (0, 1, 2, 5, 15, 99), "ArraySize": (0, 1, 2, 5, 6, 12, 2049),
    "Usage": (0, 1, 2, 3, 4),
    "BindFlags": (0, 1, 2, 4, 5, 8, 0x10, 0x11, 0x18, 0x20, 0x28, 0x40, 0x48, 0x60, 0x80, 0x88,
                  0xA8, 0x200, 0x3FF),
    "CPUAccessFlags": (0, _WRITE, _READ, _WRITE | _READ, 5),
    "MiscFlags": (0, 1, 2, 4, 5, 0x10, 0x20, 0x40, 0x60, 0x80, 0x100, 0x200),
    "StructureByteStride": (0, 4, 12, 16, 2048, 2052, 3),
    "BufferCount": (0, 1, 2, 3, 17), "SwapEffect": (0, 1, 2, 3, 4, 5),
    "BufferUsage": (0, 0x10, 0x20, 0x30, 0x400, 0x430),
    "sync_interval": (0, 1, 4, 5),
}  # fmt: skip
"""Numbers of an argument or member by its name."""
_SMALL = (0, 0, 1, 1, 2, 3, 4, 5, 8, 16)
_HUGE = (*hostile.WORDS, -1, -2, -(1 << 31), -(1 << 63), (1 << 64) - 1, 12, 20, 99)
_SIZES = (0, 1, 3, 4, 16, 64, 100, 256, 1024)


class Method(NamedTuple):
    """A method of the API: class, name, the hints of its parameters by name, and the number of
    those without a default.
    """

    kind: type
    name: str
    hints: dict[str, Any]
    needed: int = 1

    @classmethod
    def of(cls, kind: type, name: str) -> Method:
        """The method of a class."""
        method = getattr(kind, name)
        hints, (_, *parameters) = hints_of(method), inspect.signature(method).parameters
        given = inspect.signature(method).parameters.values()
        needed = sum(each.default is each.empty for each in given) - 1
        return cls(kind, name, {each: hints.get(each, Any) for each in parameters}, needed)


Fits = Callable[[Any], bool]
"""Type of a function that tells whether an object can be used for a parameter."""


def _bound(flags: int) -> Fits:
    """Whether a resource was created with bind flags."""
    return lambda each: bool(each.desc.BindFlags & flags)


def _made_for(flags: int) -> Fits:
    """Whether a resource, or the resource of a view, was created with miscellaneous flags."""

    def fits(each: Any) -> bool:
        return bool(getattr(each, "resource", each).desc.MiscFlags & flags)

    return fits


def _is_mapped(each: Any) -> bool:
    return bool(each.desc.CPUAccessFlags)


def _has_samples(each: Any) -> bool:
    return bool(each.ddi.SampleDesc.Count > 1)


_STAGES = ("vs", "hs", "ds", "gs", "ps", "cs")
_FITTING: dict[str, dict[str, Fits]] = {
    "map": {"resource": _is_mapped},
    "unmap": {"resource": _is_mapped},
    "create_shader_resource_view": {"resource": _bound(8)},
    "create_render_target_view": {"resource": _bound(0x20)},
    "create_depth_stencil_view": {"resource": _bound(0x40)},
    "create_unordered_access_view": {"resource": _bound(0x80)},
    "ia_set_vertex_buffers": {"buffers": _bound(1)},
    "ia_set_index_buffer": {"buffer": _bound(2)},
    "so_set_targets": {"buffers": _bound(0x10)},
    **{f"{stage}_set_constant_buffers": {"objects": _bound(4)} for stage in _STAGES},
    **{f"{stage}_set_constant_buffers1": {"buffers": _bound(4)} for stage in _STAGES},
    "dispatch_indirect": {"arguments": _made_for(_ARGUMENTS)},
    "draw_instanced_indirect": {"arguments": _made_for(_ARGUMENTS)},
    "draw_indexed_instanced_indirect": {"arguments": _made_for(_ARGUMENTS)},
    "generate_mips": {"view": _made_for(_MIPS)},
    "set_resource_min_lod": {"resource": _made_for(_CLAMP)},
    "resolve_subresource": {"source": _has_samples},
}
"""What the objects of parameters need, by method; most arguments are chosen among those."""


class Arguments:
    """Arguments of a call, chosen by random numbers.

    ``objects`` returns objects of a kind, of which the arguments are chosen; ``any`` objects of
    all kinds, those that are not alive or belong to another device included.
    """

    def __init__(
        self,
        rng: Random,
        objects: Callable[[type], Sequence[Any]],
        others: Callable[[], Sequence[Any]],
    ) -> None:
        self._rng = rng
        self._objects = objects
        self._others = others
        self._length = 1
        self._fits: dict[str, Fits] = {}
        self._target: type = object

    def of(self, method: Method) -> list[Any]:
        """Return the arguments of a call of a method; sequences mostly have the same length."""
        self._length = often(self._rng, 1, (0, 2, 3, 8, _MANY), 0.35)
        self._fits = _FITTING.get(method.name, {})
        rng, count = self._rng, len(method.hints)
        if rng.random() < 0.5:
            count = rng.randint(method.needed, count)
        rows = [*method.hints.items()][:count]
        return [self._argument(method, name, hint) for name, hint in rows]

    def map_of(self, resource: Any) -> tuple[Any, int, Map]:
        """Return arguments of Map that fit a resource's usage and access."""
        access = resource.desc.CPUAccessFlags
        writes, reads = bool(access & _WRITE), bool(access & _READ)
        kinds = [Map.READ] * reads + [Map.WRITE] * writes + [Map.READWRITE] * (reads and writes)
        if resource.desc.Usage == Usage.DYNAMIC:
            kinds = [Map.WRITE_DISCARD, Map.WRITE_DISCARD, Map.WRITE_NOOVERWRITE]
        return resource, 0, self._rng.choice(kinds or [*Map])

    def _argument(self, method: Method, name: str, hint: Any) -> Any:
        if self._rng.random() < 0.015:
            return self._rng.choice(_RUBBISH)
        if name == "bytecode":
            return self._code(method.name)
        return self.value(hint, name)

    def _code(self, method: str) -> bytes:
        """The code of a shader for a method, or of another stage, or damaged."""
        rng = self._rng
        stages = [stage for stage in _TEXTS if stage in method] or ["vertex"]
        stage = often(rng, stages[0], tuple(_TEXTS), 0.1)
        code = bytecode(stage, rng.randrange(4))
        if rng.random() < 0.1:
            return often(rng, code[: rng.randrange(len(code))], (b"", b"DXBC", bytes(64)))
        return code

    def value(self, hint: Any, name: str) -> Any:
        """Return a value of a type hint, for a parameter or member of a name."""
        rng, origin = self._rng, get_origin(hint)
        if hint in _VALUES:
            return _VALUES[hint](rng, name)
        if origin is tuple:
            return tuple(self.value(each, name) for each in get_args(hint) if each is not ...)
        if origin is not None and isinstance(origin, type) and issubclass(origin, Iterable):
            return self._sequence(get_args(hint)[0], name)
        if origin is not None:
            return self._one_of(get_args(hint), name) if _is_union(origin) else None
        if isinstance(hint, type) and hasattr(hint, "_fields"):
            return self._description(hint)
        return self._object(hint, name) if isinstance(hint, type) else None

    def _one_of(self, hints: Sequence[Any], name: str) -> Any:
        rng = self._rng
        some = [each for each in hints if each is not type(None)]
        if len(some) < len(hints) and rng.random() < 0.3:
            return None
        return self.value(rng.choice(some), name)

    def _sequence(self, hint: Any, name: str) -> tuple[Any, ...]:
        length = often(self._rng, self._length, (0, 1, 4, _MANY), 0.05)
        if name in ("color", "blend_factor", "values"):
            length = often(self._rng, 4, (0, 3, 5), 0.05)
        if name == "instances":
            length = often(self._rng, 0, (1, 2), 0.1)
        return tuple(self.value(hint, name) for _ in range(length))

    def _object(self, kind: type, name: str) -> Any:
        rng = self._rng
        if rng.random() < 0.04:
            others = self._others()
            return rng.choice(others) if others else None
        found = self._objects(kind)
        fits = self._fits.get(name)
        if name == "source" and found:
            alike = self._target
            fits = fits or (lambda each: type(each) is alike)
        if fits is not None and rng.random() < 0.85:
            found = [each for each in found if fits(each)] or found
        if not found:
            return None if issubclass(kind, DeviceChild) else 0
        recent = rng.random() < 0.4
        chosen = rng.choice(found[-3:] if recent else found)
        self._target = type(chosen)
        return chosen

    def _description(self, kind: Any) -> Any:
        """A description of a type, some with a member that has any other value."""
        rng = self._rng
        usual = USUAL.get(kind)
        made = rng.choice(usual) if usual else _first(kind)
        if made is None or rng.random() < 0.6:
            return made
        name = rng.choice(kind._fields)
        hint = _members(kind).get(name, int)
        return made._replace(**{name: self.value(hint, name)})


def _first(kind: Any) -> Any:
    """A description with the default of every member, None if there is none."""
    complete = len(kind._field_defaults) == len(kind._fields)
    return kind() if complete else kind(*(0 for _ in kind._fields))


@cache
def _members(kind: type) -> dict[str, Any]:
    return dict(hints_of(kind))


def _is_union(origin: Any) -> bool:
    return origin is Union or getattr(origin, "__name__", "") == "UnionType"


# Plain values


def _integer(rng: Random, name: str) -> Any:
    if name.lower().endswith("format"):
        return often(rng, rng.choice(_USUAL_FORMATS), (*_FORMATS, 9999, -1), 0.3)
    return often(rng, rng.choice(_NUMBERS.get(name, _SMALL)), _HUGE, 0.12)


def _float(rng: Random, name: str) -> float:
    return hostile.real(rng, 0.0, 1.0)


def _flag(rng: Random, name: str) -> bool:
    return rng.random() < 0.5


def _bytes(rng: Random, name: str) -> bytes:
    return rng.randbytes(rng.choice(_SIZES))


_NAMES: dict[str, tuple[str, ...]] = {
    "type_name": CLASSES,
    "name": (INSTANCE,),
    "interface": ("IDXGIDevice", "ID3D10Device", "ID3D11Device"),
}
"""Texts of an argument by its name."""


def _text(rng: Random, name: str) -> str:
    usual = rng.choice(_NAMES.get(name, ("v", "o")))
    return often(rng, usual, ("", "v", "o", "SV_Position", "name", "\0", "ü" * 300), 0.4)


_VALUES: dict[Any, Callable[[Random, str], Any]] = {
    int: _integer,
    float: _float,
    bool: _flag,
    bytes: _bytes,
    str: _text,
    Map: lambda rng, name: often(rng, rng.choice(tuple(Map)), (0, 6, -1), 0.05),
    ViewDimension: lambda rng, name: often(rng, rng.choice(tuple(ViewDimension)), (0, 12), 0.05),
    type(None): lambda rng, name: None,
    Any: _integer,
}
"""Function that returns a value of a type, for a parameter or member of a name."""
