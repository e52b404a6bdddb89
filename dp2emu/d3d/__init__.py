"""What the Direct3D SDK and driver headers define: enumerations, formats, structures."""

from typing import TYPE_CHECKING

from dp2emu.lazy_import import lazy_names

if TYPE_CHECKING:
    from dp2emu.d3d.dxgi import DXGI as DXGI
    from dp2emu.d3d.dxgi import DxgiRow as DxgiRow
    from dp2emu.d3d.dxgiformat import DxgiFormat as DxgiFormat
    from dp2emu.d3d.enums import Blend as Blend
    from dp2emu.d3d.enums import BlendOp as BlendOp
    from dp2emu.d3d.enums import CmpFunc as CmpFunc
    from dp2emu.d3d.enums import Cull as Cull
    from dp2emu.d3d.enums import DeclMethod as DeclMethod
    from dp2emu.d3d.enums import DeclType as DeclType
    from dp2emu.d3d.enums import DeclUsage as DeclUsage
    from dp2emu.d3d.enums import FillMode as FillMode
    from dp2emu.d3d.enums import FogMode as FogMode
    from dp2emu.d3d.enums import Format as Format
    from dp2emu.d3d.enums import LightType as LightType
    from dp2emu.d3d.enums import PrimitiveType as PrimitiveType
    from dp2emu.d3d.enums import QueryType as QueryType
    from dp2emu.d3d.enums import RenderState as RenderState
    from dp2emu.d3d.enums import ResourceType as ResourceType
    from dp2emu.d3d.enums import SamplerState as SamplerState
    from dp2emu.d3d.enums import ShadeMode as ShadeMode
    from dp2emu.d3d.enums import StateBlockType as StateBlockType
    from dp2emu.d3d.enums import StencilOp as StencilOp
    from dp2emu.d3d.enums import TextureAddress as TextureAddress
    from dp2emu.d3d.enums import TextureArgument as TextureArgument
    from dp2emu.d3d.enums import TextureFilter as TextureFilter
    from dp2emu.d3d.enums import TextureOp as TextureOp
    from dp2emu.d3d.enums import TextureStageState as TextureStageState
    from dp2emu.d3d.enums import TransformState as TransformState
    from dp2emu.d3d.flags import Clear as Clear
    from dp2emu.d3d.flags import ColorWrite as ColorWrite
    from dp2emu.d3d.flags import Dp2Flags as Dp2Flags
    from dp2emu.d3d.flags import Issue as Issue
    from dp2emu.d3d.flags import StreamSource as StreamSource
    from dp2emu.d3d.flags import Usage as Usage
    from dp2emu.d3d.formats import FORMATS as FORMATS
    from dp2emu.d3d.formats import FormatRow as FormatRow
    from dp2emu.d3d.fvf import fvf_layout as fvf_layout
    from dp2emu.d3d.fvf import fvf_size as fvf_size
    from dp2emu.d3d.hresult import HResult as HResult
    from dp2emu.d3d.hresult import hr_name as hr_name

_HOMES = {
    "dxgi": (
        "DXGI",
        "DxgiRow",
    ),
    "dxgiformat": ("DxgiFormat",),
    "enums": (
        "Blend",
        "BlendOp",
        "CmpFunc",
        "Cull",
        "DeclMethod",
        "DeclType",
        "DeclUsage",
        "FillMode",
        "FogMode",
        "Format",
        "LightType",
        "PrimitiveType",
        "QueryType",
        "RenderState",
        "ResourceType",
        "SamplerState",
        "ShadeMode",
        "StateBlockType",
        "StencilOp",
        "TextureAddress",
        "TextureArgument",
        "TextureFilter",
        "TextureOp",
        "TextureStageState",
        "TransformState",
    ),
    "flags": (
        "Clear",
        "ColorWrite",
        "Dp2Flags",
        "Issue",
        "StreamSource",
        "Usage",
    ),
    "formats": (
        "FORMATS",
        "FormatRow",
    ),
    "fvf": (
        "fvf_layout",
        "fvf_size",
    ),
    "hresult": (
        "HResult",
        "hr_name",
    ),
}
"""Names by module, which are imported when they are asked for."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # where types are checked, a name that is not there is an error
    __getattr__ = lazy_names(__name__, _HOMES)
