"""The functions of a device, by name, interface version and what they may report.

Source: Direct3D 10/11 DDI, "Query functions" and "Device functions"; names are those of the
members of D3D10DDI_DEVICEFUNCS without ``pfn``.
"""

from __future__ import annotations

from dp2emu.ddi10.codes import DdiCode, Interface

_D3D10_0 = """
    DefaultConstantBufferUpdateSubresourceUP VsSetConstantBuffers PsSetShaderResources PsSetShader
    PsSetSamplers VsSetShader DrawIndexed Draw DynamicIABufferMapNoOverwrite DynamicIABufferUnmap
    DynamicConstantBufferMapDiscard DynamicIABufferMapDiscard DynamicConstantBufferUnmap
    PsSetConstantBuffers IaSetInputLayout IaSetVertexBuffers IaSetIndexBuffer DrawIndexedInstanced
    DrawInstanced DynamicResourceMapDiscard DynamicResourceUnmap GsSetConstantBuffers GsSetShader
    IaSetTopology StagingResourceMap StagingResourceUnmap VsSetShaderResources VsSetSamplers
    GsSetShaderResources GsSetSamplers SetRenderTargets ShaderResourceViewReadAfterWriteHazard
    ResourceReadAfterWriteHazard SetBlendState SetDepthStencilState SetRasterizerState QueryEnd
    QueryBegin ResourceCopyRegion ResourceUpdateSubresourceUP SoSetTargets DrawAuto SetViewports
    SetScissorRects ClearRenderTargetView ClearDepthStencilView SetPredication QueryGetData Flush
    GenMips ResourceCopy ResourceResolveSubresource ResourceMap ResourceUnmap
    ResourceIsStagingBusy RelocateDeviceFuncs
    CalcPrivateResourceSize CalcPrivateOpenedResourceSize CreateResource OpenResource
    DestroyResource
    CalcPrivateShaderResourceViewSize CreateShaderResourceView DestroyShaderResourceView
    CalcPrivateRenderTargetViewSize CreateRenderTargetView DestroyRenderTargetView
    CalcPrivateDepthStencilViewSize CreateDepthStencilView DestroyDepthStencilView
    CalcPrivateElementLayoutSize CreateElementLayout DestroyElementLayout
    CalcPrivateBlendStateSize CreateBlendState DestroyBlendState
    CalcPrivateDepthStencilStateSize CreateDepthStencilState DestroyDepthStencilState
    CalcPrivateRasterizerStateSize CreateRasterizerState DestroyRasterizerState
    CalcPrivateShaderSize CreateVertexShader CreateGeometryShader CreatePixelShader
    CalcPrivateGeometryShaderWithStreamOutput CreateGeometryShaderWithStreamOutput DestroyShader
    CalcPrivateSamplerSize CreateSampler DestroySampler
    CalcPrivateQuerySize CreateQuery DestroyQuery
    CheckFormatSupport CheckMultisampleQualityLevels CheckCounterInfo CheckCounter DestroyDevice
    SetTextFilterSize
"""

_D3D10_1 = "ResourceConvert ResourceConvertRegion"

_D3D11_0 = """
    DrawIndexedInstancedIndirect DrawInstancedIndirect CommandListExecute
    HsSetShaderResources HsSetShader HsSetSamplers HsSetConstantBuffers
    DsSetShaderResources DsSetShader DsSetSamplers DsSetConstantBuffers
    CreateHullShader CreateDomainShader
    CheckDeferredContextHandleSizes CalcDeferredContextHandleSize CalcPrivateDeferredContextSize
    CreateDeferredContext AbandonCommandList CalcPrivateCommandListSize CreateCommandList
    DestroyCommandList CalcPrivateTessellationShaderSize
    PsSetShaderWithIfaces VsSetShaderWithIfaces GsSetShaderWithIfaces HsSetShaderWithIfaces
    DsSetShaderWithIfaces CsSetShaderWithIfaces
    CreateComputeShader CsSetShader CsSetShaderResources CsSetSamplers CsSetConstantBuffers
    CalcPrivateUnorderedAccessViewSize CreateUnorderedAccessView DestroyUnorderedAccessView
    ClearUnorderedAccessViewUint ClearUnorderedAccessViewFloat CsSetUnorderedAccessViews
    Dispatch DispatchIndirect SetResourceMinLOD CopyStructureCount
    RecycleCommandList RecycleCreateCommandList RecycleCreateDeferredContext
    RecycleDestroyCommandList
"""

SINCE: dict[str, Interface] = {
    name: interface
    for interface, names in (
        (Interface.D3D10_0, _D3D10_0),
        (Interface.D3D10_1, _D3D10_1),
        (Interface.D3D11_0, _D3D11_0),
    )
    for name in names.split()
}
"""The interface version each function came with, in the order of the tables."""

DXGI_FUNCTIONS = (
    "Present",
    "GetGammaCaps",
    "SetDisplayMode",
    "SetResourcePriority",
    "QueryResourceResidency",
    "RotateResourceIdentities",
    "Blt",
)
"""The DXGI functions in the order of their table; each returns an HRESULT."""

_PREDICATED = """
    Draw DrawIndexed DrawInstanced DrawIndexedInstanced DrawAuto
    DrawInstancedIndirect DrawIndexedInstancedIndirect Dispatch DispatchIndirect CommandListExecute
    ClearRenderTargetView ClearDepthStencilView
    ClearUnorderedAccessViewUint ClearUnorderedAccessViewFloat
    ResourceCopy ResourceCopyRegion ResourceConvert ResourceConvertRegion
    ResourceUpdateSubresourceUP DefaultConstantBufferUpdateSubresourceUP
    ResourceResolveSubresource GenMips CopyStructureCount SetResourceMinLOD
"""

PREDICATED = frozenset(_PREDICATED.split())
"""Functions that do nothing when the current predicate says so (Direct3D 10/11 DDI,
"Predication"); all others always act: maps, state, queries and flushing."""

_REMOVED = DdiCode.D3DDDIERR_DEVICEREMOVED

_MEMORY, _STILL = DdiCode.E_OUTOFMEMORY, DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING

_NOTHING = ("Calc", "Destroy", "Check", "RelocateDeviceFuncs", "RecycleDestroy")
"""What names of functions that report nothing begin with."""

_MAKING = ("Create", "Open", "RecycleCreate")
"""What names of functions that make something begin with."""

_OTHERS: dict[str, frozenset[DdiCode]] = {
    "CreateQuery": frozenset({_MEMORY, DdiCode.DXGI_DDI_ERR_NONEXCLUSIVE, _REMOVED}),
    "QueryGetData": frozenset({_STILL, _REMOVED}),
    "CheckCounter": frozenset({DdiCode.DXGI_DDI_ERR_UNSUPPORTED, DdiCode.E_INVALIDARG}),
    "ResourceMap": frozenset({_STILL, _MEMORY, _REMOVED}),
    "StagingResourceMap": frozenset({_STILL, _REMOVED}),
}


def _may_report(name: str) -> frozenset[DdiCode]:
    if name in _OTHERS:
        return _OTHERS[name]
    if name.startswith(_NOTHING):
        return frozenset()
    if name.startswith(_MAKING) or name.endswith("MapDiscard"):
        return frozenset({_MEMORY, _REMOVED})
    return frozenset({_REMOVED})


MAY_REPORT: dict[str, frozenset[DdiCode]] = {name: _may_report(name) for name in SINCE}
"""What each function may give to pfnSetErrorCb: what makes something memory runs out for, what
checks a capability or destroys nothing at all."""


def names_of(interface: Interface) -> tuple[str, ...]:
    """The functions a device of an interface version has, in the order of its table."""
    return tuple(name for name, since in SINCE.items() if since <= interface)
