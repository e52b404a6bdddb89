"""The methods of the interfaces of Direct3D 10 and 11, as the headers of the SDK declare them."""

from __future__ import annotations

_DECLARED: dict[str, tuple[str, str]] = {
    "IUnknown": ("", "QueryInterface AddRef Release"),
    "ID3D10DeviceChild": (
        "IUnknown",
        """
        GetDevice GetPrivateData SetPrivateData SetPrivateDataInterface
        """,
    ),
    "ID3D10Resource": ("ID3D10DeviceChild", "GetType SetEvictionPriority GetEvictionPriority"),
    "ID3D10Buffer": ("ID3D10Resource", "Map Unmap GetDesc"),
    "ID3D10Texture1D": ("ID3D10Buffer", ""),
    "ID3D10Texture2D": ("ID3D10Buffer", ""),
    "ID3D10Texture3D": ("ID3D10Buffer", ""),
    "ID3D10View": ("ID3D10DeviceChild", "GetResource"),
    "ID3D10DepthStencilView": ("ID3D10View", "GetDesc"),
    "ID3D10RenderTargetView": ("ID3D10DepthStencilView", ""),
    "ID3D10ShaderResourceView": ("ID3D10DepthStencilView", ""),
    "ID3D10BlendState": ("ID3D10DeviceChild", "GetDesc"),
    "ID3D10DepthStencilState": ("ID3D10BlendState", ""),
    "ID3D10GeometryShader": ("ID3D10DeviceChild", ""),
    "ID3D10InputLayout": ("ID3D10DeviceChild", ""),
    "ID3D10PixelShader": ("ID3D10DeviceChild", ""),
    "ID3D10RasterizerState": ("ID3D10BlendState", ""),
    "ID3D10SamplerState": ("ID3D10BlendState", ""),
    "ID3D10VertexShader": ("ID3D10DeviceChild", ""),
    "ID3D10Asynchronous": ("ID3D10DeviceChild", "Begin End GetData GetDataSize"),
    "ID3D10Counter": ("ID3D10Asynchronous", "GetDesc"),
    "ID3D10Query": ("ID3D10Counter", ""),
    "ID3D10Predicate": ("ID3D10Counter", ""),
    "ID3D10Device": (
        "IUnknown",
        """
        VSSetConstantBuffers PSSetShaderResources PSSetShader PSSetSamplers VSSetShader
        DrawIndexed Draw PSSetConstantBuffers IASetInputLayout IASetVertexBuffers
        IASetIndexBuffer DrawIndexedInstanced DrawInstanced GSSetConstantBuffers GSSetShader
        IASetPrimitiveTopology VSSetShaderResources VSSetSamplers SetPredication
        GSSetShaderResources GSSetSamplers OMSetRenderTargets OMSetBlendState
        OMSetDepthStencilState SOSetTargets DrawAuto RSSetState RSSetViewports
        RSSetScissorRects CopySubresourceRegion CopyResource UpdateSubresource
        ClearRenderTargetView ClearDepthStencilView GenerateMips ResolveSubresource
        VSGetConstantBuffers PSGetShaderResources PSGetShader PSGetSamplers VSGetShader
        PSGetConstantBuffers IAGetInputLayout IAGetVertexBuffers IAGetIndexBuffer
        GSGetConstantBuffers GSGetShader IAGetPrimitiveTopology VSGetShaderResources
        VSGetSamplers GetPredication GSGetShaderResources GSGetSamplers OMGetRenderTargets
        OMGetBlendState OMGetDepthStencilState SOGetTargets RSGetState RSGetViewports
        RSGetScissorRects GetDeviceRemovedReason SetExceptionMode GetExceptionMode
        GetPrivateData SetPrivateData SetPrivateDataInterface ClearState Flush CreateBuffer
        CreateTexture1D CreateTexture2D CreateTexture3D CreateShaderResourceView
        CreateRenderTargetView CreateDepthStencilView CreateInputLayout CreateVertexShader
        CreateGeometryShader CreateGeometryShaderWithStreamOutput CreatePixelShader
        CreateBlendState CreateDepthStencilState CreateRasterizerState CreateSamplerState
        CreateQuery CreatePredicate CreateCounter CheckFormatSupport
        CheckMultisampleQualityLevels CheckCounterInfo CheckCounter GetCreationFlags
        OpenSharedResource SetTextFilterSize GetTextFilterSize
        """,
    ),
    "ID3D10Multithread": (
        "IUnknown",
        """
        Enter Leave SetMultithreadProtected GetMultithreadProtected
        """,
    ),
    "ID3D10BlendState1": ("ID3D10BlendState", "GetDesc1"),
    "ID3D10ShaderResourceView1": ("ID3D10DepthStencilView", "GetDesc1"),
    "ID3D10Device1": (
        "ID3D10Device",
        """
        CreateShaderResourceView1 CreateBlendState1 GetFeatureLevel
        """,
    ),
    "ID3D10Debug": (
        "IUnknown",
        """
        SetFeatureMask GetFeatureMask SetPresentPerRenderOpDelay GetPresentPerRenderOpDelay
        SetSwapChain GetSwapChain Validate
        """,
    ),
    "ID3D10SwitchToRef": ("IUnknown", "SetUseRef GetUseRef"),
    "ID3D10InfoQueue": (
        "IUnknown",
        """
        SetMessageCountLimit ClearStoredMessages GetMessage
        GetNumMessagesAllowedByStorageFilter GetNumMessagesDeniedByStorageFilter
        GetNumStoredMessages GetNumStoredMessagesAllowedByRetrievalFilter
        GetNumMessagesDiscardedByMessageCountLimit GetMessageCountLimit
        AddStorageFilterEntries GetStorageFilter ClearStorageFilter PushEmptyStorageFilter
        PushCopyOfStorageFilter PushStorageFilter PopStorageFilter GetStorageFilterStackSize
        AddRetrievalFilterEntries GetRetrievalFilter ClearRetrievalFilter
        PushEmptyRetrievalFilter PushCopyOfRetrievalFilter PushRetrievalFilter
        PopRetrievalFilter GetRetrievalFilterStackSize AddMessage AddApplicationMessage
        SetBreakOnCategory SetBreakOnSeverity SetBreakOnID GetBreakOnCategory
        GetBreakOnSeverity GetBreakOnID SetMuteDebugOutput GetMuteDebugOutput
        """,
    ),
    "ID3D10EffectType": (
        "",
        """
        IsValid GetDesc GetMemberTypeByIndex GetMemberTypeByName GetMemberTypeBySemantic
        GetMemberName GetMemberSemantic
        """,
    ),
    "ID3D10EffectVariable": (
        "",
        """
        IsValid GetType GetDesc GetAnnotationByIndex GetAnnotationByName GetMemberByIndex
        GetMemberByName GetMemberBySemantic GetElement GetParentConstantBuffer AsScalar
        AsVector AsMatrix AsString AsShaderResource AsRenderTargetView AsDepthStencilView
        AsConstantBuffer AsShader AsBlend AsDepthStencil AsRasterizer AsSampler SetRawValue
        GetRawValue
        """,
    ),
    "ID3D10EffectConstantBuffer": (
        "ID3D10EffectVariable",
        """
        SetConstantBuffer GetConstantBuffer SetTextureBuffer GetTextureBuffer
        """,
    ),
    "ID3D10EffectScalarVariable": (
        "ID3D10EffectVariable",
        """
        SetFloat GetFloat SetFloatArray GetFloatArray SetInt GetInt SetIntArray GetIntArray
        SetBool GetBool SetBoolArray GetBoolArray
        """,
    ),
    "ID3D10EffectVectorVariable": (
        "ID3D10EffectVariable",
        """
        SetBoolVector SetIntVector SetFloatVector GetBoolVector GetIntVector GetFloatVector
        SetBoolVectorArray SetIntVectorArray SetFloatVectorArray GetBoolVectorArray
        GetIntVectorArray GetFloatVectorArray
        """,
    ),
    "ID3D10EffectMatrixVariable": (
        "ID3D10EffectVariable",
        """
        SetMatrix GetMatrix SetMatrixArray GetMatrixArray SetMatrixTranspose
        GetMatrixTranspose SetMatrixTransposeArray GetMatrixTransposeArray
        """,
    ),
    "ID3D10EffectStringVariable": ("ID3D10EffectVariable", "GetString GetStringArray"),
    "ID3D10EffectShaderResourceVariable": (
        "ID3D10EffectVariable",
        """
        SetResource GetResource SetResourceArray GetResourceArray
        """,
    ),
    "ID3D10EffectRenderTargetViewVariable": (
        "ID3D10EffectVariable",
        """
        SetRenderTarget GetRenderTarget SetRenderTargetArray GetRenderTargetArray
        """,
    ),
    "ID3D10EffectDepthStencilViewVariable": (
        "ID3D10EffectVariable",
        """
        SetDepthStencil GetDepthStencil SetDepthStencilArray GetDepthStencilArray
        """,
    ),
    "ID3D10EffectShaderVariable": (
        "ID3D10EffectVariable",
        """
        GetShaderDesc GetVertexShader GetGeometryShader GetPixelShader
        GetInputSignatureElementDesc GetOutputSignatureElementDesc
        """,
    ),
    "ID3D10EffectBlendVariable": ("ID3D10EffectVariable", "GetBlendState GetBackingStore"),
    "ID3D10EffectDepthStencilVariable": (
        "ID3D10EffectVariable",
        """
        GetDepthStencilState GetBackingStore
        """,
    ),
    "ID3D10EffectRasterizerVariable": (
        "ID3D10EffectVariable",
        """
        GetRasterizerState GetBackingStore
        """,
    ),
    "ID3D10EffectSamplerVariable": ("ID3D10EffectVariable", "GetSampler GetBackingStore"),
    "ID3D10EffectTechnique": (
        "",
        """
        IsValid GetDesc GetAnnotationByIndex GetAnnotationByName GetPassByIndex GetPassByName
        ComputeStateBlockMask
        """,
    ),
    "ID3D10Effect": (
        "IUnknown",
        """
        IsValid IsPool GetDevice GetDesc GetConstantBufferByIndex GetConstantBufferByName
        GetVariableByIndex GetVariableByName GetVariableBySemantic GetTechniqueByIndex
        GetTechniqueByName Optimize IsOptimized
        """,
    ),
    "ID3D10EffectPool": ("IUnknown", "AsEffect"),
    "ID3D10EffectPass": (
        "",
        """
        IsValid GetDesc GetVertexShaderDesc GetGeometryShaderDesc GetPixelShaderDesc
        GetAnnotationByIndex GetAnnotationByName Apply ComputeStateBlockMask
        """,
    ),
    "ID3D10StateBlock": ("IUnknown", "Capture Apply ReleaseAllDeviceObjects GetDevice"),
    "ID3D10ShaderReflectionType": (
        "",
        """
        GetDesc GetMemberTypeByIndex GetMemberTypeByName GetMemberTypeName
        """,
    ),
    "ID3D10ShaderReflectionVariable": ("", "GetDesc GetType"),
    "ID3D10ShaderReflectionConstantBuffer": ("", "GetDesc GetVariableByIndex GetVariableByName"),
    "ID3D10ShaderReflection": (
        "IUnknown",
        """
        GetDesc GetConstantBufferByIndex GetConstantBufferByName GetResourceBindingDesc
        GetInputParameterDesc GetOutputParameterDesc
        """,
    ),
    "ID3D10ShaderReflection1": (
        "ID3D10ShaderReflection",
        """
        GetVariableByName GetResourceBindingDescByName GetMovInstructionCount
        GetMovcInstructionCount GetConversionInstructionCount GetBitwiseInstructionCount
        GetGSInputPrimitive IsLevel9Shader IsSampleFrequencyShader
        """,
    ),
    "ID3D11DeviceChild": ("ID3D10DeviceChild", ""),
    "ID3D11Asynchronous": ("ID3D10DeviceChild", "GetDataSize"),
    "ID3D11Query": ("ID3D11Asynchronous", "GetDesc"),
    "ID3D11Resource": ("ID3D10Resource", ""),
    "ID3D11View": ("ID3D10View", ""),
    "ID3D11BlendState": ("ID3D10BlendState", ""),
    "ID3D11Buffer": ("ID3D10Resource", "GetDesc"),
    "ID3D11ClassInstance": (
        "ID3D10DeviceChild",
        """
        GetClassLinkage GetDesc GetInstanceName GetTypeName
        """,
    ),
    "ID3D11ClassLinkage": ("ID3D10DeviceChild", "GetClassInstance CreateClassInstance"),
    "ID3D11CommandList": ("ID3D10DeviceChild", "GetContextFlags"),
    "ID3D11ComputeShader": ("ID3D10DeviceChild", ""),
    "ID3D11Counter": ("ID3D11Query", ""),
    "ID3D11DepthStencilState": ("ID3D10BlendState", ""),
    "ID3D11DepthStencilView": ("ID3D10DepthStencilView", ""),
    "ID3D11DomainShader": ("ID3D10DeviceChild", ""),
    "ID3D11GeometryShader": ("ID3D10DeviceChild", ""),
    "ID3D11HullShader": ("ID3D10DeviceChild", ""),
    "ID3D11InputLayout": ("ID3D10DeviceChild", ""),
    "ID3D11PixelShader": ("ID3D10DeviceChild", ""),
    "ID3D11Predicate": ("ID3D11Query", ""),
    "ID3D11RasterizerState": ("ID3D10BlendState", ""),
    "ID3D11RenderTargetView": ("ID3D10DepthStencilView", ""),
    "ID3D11SamplerState": ("ID3D10BlendState", ""),
    "ID3D11ShaderResourceView": ("ID3D10DepthStencilView", ""),
    "ID3D11Texture1D": ("ID3D11Buffer", ""),
    "ID3D11Texture2D": ("ID3D11Buffer", ""),
    "ID3D11Texture3D": ("ID3D11Buffer", ""),
    "ID3D11UnorderedAccessView": ("ID3D10DepthStencilView", ""),
    "ID3D11VertexShader": ("ID3D10DeviceChild", ""),
    "ID3D11DeviceContext": (
        "ID3D10DeviceChild",
        """
        VSSetConstantBuffers PSSetShaderResources PSSetShader PSSetSamplers VSSetShader
        DrawIndexed Draw Map Unmap PSSetConstantBuffers IASetInputLayout IASetVertexBuffers
        IASetIndexBuffer DrawIndexedInstanced DrawInstanced GSSetConstantBuffers GSSetShader
        IASetPrimitiveTopology VSSetShaderResources VSSetSamplers Begin End GetData
        SetPredication GSSetShaderResources GSSetSamplers OMSetRenderTargets
        OMSetRenderTargetsAndUnorderedAccessViews OMSetBlendState OMSetDepthStencilState
        SOSetTargets DrawAuto DrawIndexedInstancedIndirect DrawInstancedIndirect Dispatch
        DispatchIndirect RSSetState RSSetViewports RSSetScissorRects CopySubresourceRegion
        CopyResource UpdateSubresource CopyStructureCount ClearRenderTargetView
        ClearUnorderedAccessViewUint ClearUnorderedAccessViewFloat ClearDepthStencilView
        GenerateMips SetResourceMinLOD GetResourceMinLOD ResolveSubresource ExecuteCommandList
        HSSetShaderResources HSSetShader HSSetSamplers HSSetConstantBuffers
        DSSetShaderResources DSSetShader DSSetSamplers DSSetConstantBuffers
        CSSetShaderResources CSSetUnorderedAccessViews CSSetShader CSSetSamplers
        CSSetConstantBuffers VSGetConstantBuffers PSGetShaderResources PSGetShader
        PSGetSamplers VSGetShader PSGetConstantBuffers IAGetInputLayout IAGetVertexBuffers
        IAGetIndexBuffer GSGetConstantBuffers GSGetShader IAGetPrimitiveTopology
        VSGetShaderResources VSGetSamplers GetPredication GSGetShaderResources GSGetSamplers
        OMGetRenderTargets OMGetRenderTargetsAndUnorderedAccessViews OMGetBlendState
        OMGetDepthStencilState SOGetTargets RSGetState RSGetViewports RSGetScissorRects
        HSGetShaderResources HSGetShader HSGetSamplers HSGetConstantBuffers
        DSGetShaderResources DSGetShader DSGetSamplers DSGetConstantBuffers
        CSGetShaderResources CSGetUnorderedAccessViews CSGetShader CSGetSamplers
        CSGetConstantBuffers ClearState Flush GetType GetContextFlags FinishCommandList
        """,
    ),
    "ID3D11AuthenticatedChannel": (
        "ID3D10DeviceChild",
        """
        GetCertificateSize GetCertificate GetChannelHandle
        """,
    ),
    "ID3D11CryptoSession": (
        "ID3D10DeviceChild",
        """
        GetCryptoType GetDecoderProfile GetCertificateSize GetCertificate
        GetCryptoSessionHandle
        """,
    ),
    "ID3D11VideoDecoder": ("ID3D10DeviceChild", "GetCreationParameters GetDriverHandle"),
    "ID3D11VideoProcessorEnumerator": (
        "ID3D10DeviceChild",
        """
        GetVideoProcessorContentDesc CheckVideoProcessorFormat GetVideoProcessorCaps
        GetVideoProcessorRateConversionCaps GetVideoProcessorCustomRate
        GetVideoProcessorFilterRange
        """,
    ),
    "ID3D11VideoProcessor": ("ID3D10DeviceChild", "GetContentDesc GetRateConversionCaps"),
    "ID3D11VideoDecoderOutputView": ("ID3D10DepthStencilView", ""),
    "ID3D11VideoProcessorInputView": ("ID3D10DepthStencilView", ""),
    "ID3D11VideoProcessorOutputView": ("ID3D10DepthStencilView", ""),
    "ID3D11VideoDevice": (
        "IUnknown",
        """
        CreateVideoDecoder CreateVideoProcessor CreateAuthenticatedChannel CreateCryptoSession
        CreateVideoDecoderOutputView CreateVideoProcessorInputView
        CreateVideoProcessorOutputView CreateVideoProcessorEnumerator
        GetVideoDecoderProfileCount GetVideoDecoderProfile CheckVideoDecoderFormat
        GetVideoDecoderConfigCount GetVideoDecoderConfig GetContentProtectionCaps
        CheckCryptoKeyExchange SetPrivateData SetPrivateDataInterface
        """,
    ),
    "ID3D11VideoContext": (
        "ID3D10DeviceChild",
        """
        GetDecoderBuffer ReleaseDecoderBuffer DecoderBeginFrame DecoderEndFrame
        SubmitDecoderBuffers DecoderExtension VideoProcessorSetOutputTargetRect
        VideoProcessorSetOutputBackgroundColor VideoProcessorSetOutputColorSpace
        VideoProcessorSetOutputAlphaFillMode VideoProcessorSetOutputConstriction
        VideoProcessorSetOutputStereoMode VideoProcessorSetOutputExtension
        VideoProcessorGetOutputTargetRect VideoProcessorGetOutputBackgroundColor
        VideoProcessorGetOutputColorSpace VideoProcessorGetOutputAlphaFillMode
        VideoProcessorGetOutputConstriction VideoProcessorGetOutputStereoMode
        VideoProcessorGetOutputExtension VideoProcessorSetStreamFrameFormat
        VideoProcessorSetStreamColorSpace VideoProcessorSetStreamOutputRate
        VideoProcessorSetStreamSourceRect VideoProcessorSetStreamDestRect
        VideoProcessorSetStreamAlpha VideoProcessorSetStreamPalette
        VideoProcessorSetStreamPixelAspectRatio VideoProcessorSetStreamLumaKey
        VideoProcessorSetStreamStereoFormat VideoProcessorSetStreamAutoProcessingMode
        VideoProcessorSetStreamFilter VideoProcessorSetStreamExtension
        VideoProcessorGetStreamFrameFormat VideoProcessorGetStreamColorSpace
        VideoProcessorGetStreamOutputRate VideoProcessorGetStreamSourceRect
        VideoProcessorGetStreamDestRect VideoProcessorGetStreamAlpha
        VideoProcessorGetStreamPalette VideoProcessorGetStreamPixelAspectRatio
        VideoProcessorGetStreamLumaKey VideoProcessorGetStreamStereoFormat
        VideoProcessorGetStreamAutoProcessingMode VideoProcessorGetStreamFilter
        VideoProcessorGetStreamExtension VideoProcessorBlt NegotiateCryptoSessionKeyExchange
        EncryptionBlt DecryptionBlt StartSessionKeyRefresh FinishSessionKeyRefresh
        GetEncryptionBltKey NegotiateAuthenticatedChannelKeyExchange QueryAuthenticatedChannel
        ConfigureAuthenticatedChannel VideoProcessorSetStreamRotation
        VideoProcessorGetStreamRotation
        """,
    ),
    "ID3D11Device": (
        "IUnknown",
        """
        CreateBuffer CreateTexture1D CreateTexture2D CreateTexture3D CreateShaderResourceView
        CreateUnorderedAccessView CreateRenderTargetView CreateDepthStencilView
        CreateInputLayout CreateVertexShader CreateGeometryShader
        CreateGeometryShaderWithStreamOutput CreatePixelShader CreateHullShader
        CreateDomainShader CreateComputeShader CreateClassLinkage CreateBlendState
        CreateDepthStencilState CreateRasterizerState CreateSamplerState CreateQuery
        CreatePredicate CreateCounter CreateDeferredContext OpenSharedResource
        CheckFormatSupport CheckMultisampleQualityLevels CheckCounterInfo CheckCounter
        CheckFeatureSupport GetPrivateData SetPrivateData SetPrivateDataInterface
        GetFeatureLevel GetCreationFlags GetDeviceRemovedReason GetImmediateContext
        SetExceptionMode GetExceptionMode
        """,
    ),
    "ID3D11BlendState1": ("ID3D10BlendState1", ""),
    "ID3DDeviceContextState": ("ID3D10DeviceChild", ""),
    "ID3D11DeviceContext1": (
        "ID3D11DeviceContext",
        """
        CopySubresourceRegion1 UpdateSubresource1 DiscardResource DiscardView
        VSSetConstantBuffers1 HSSetConstantBuffers1 DSSetConstantBuffers1
        GSSetConstantBuffers1 PSSetConstantBuffers1 CSSetConstantBuffers1
        VSGetConstantBuffers1 HSGetConstantBuffers1 DSGetConstantBuffers1
        GSGetConstantBuffers1 PSGetConstantBuffers1 CSGetConstantBuffers1
        SwapDeviceContextState ClearView DiscardView1
        """,
    ),
    "ID3D11VideoContext1": (
        "ID3D11VideoContext",
        """
        SubmitDecoderBuffers1 GetDataForNewHardwareKey CheckCryptoSessionStatus
        DecoderEnableDownsampling DecoderUpdateDownsampling VideoProcessorSetOutputColorSpace1
        VideoProcessorSetOutputShaderUsage VideoProcessorGetOutputColorSpace1
        VideoProcessorGetOutputShaderUsage VideoProcessorSetStreamColorSpace1
        VideoProcessorSetStreamMirror VideoProcessorGetStreamColorSpace1
        VideoProcessorGetStreamMirror VideoProcessorGetBehaviorHints
        """,
    ),
    "ID3D11VideoDevice1": (
        "ID3D11VideoDevice",
        """
        GetCryptoSessionPrivateDataSize GetVideoDecoderCaps CheckVideoDecoderDownsampling
        RecommendVideoDecoderDownsampleParameters
        """,
    ),
    "ID3D11VideoProcessorEnumerator1": (
        "ID3D11VideoProcessorEnumerator",
        """
        CheckVideoProcessorFormatConversion
        """,
    ),
    "ID3DUserDefinedAnnotation": ("IUnknown", "BeginEvent EndEvent SetMarker GetStatus"),
    "ID3D11RasterizerState1": ("ID3D10BlendState1", ""),
    "ID3D11Device1": (
        "ID3D11Device",
        """
        GetImmediateContext1 CreateDeferredContext1 CreateBlendState1 CreateRasterizerState1
        CreateDeviceContextState OpenSharedResource1 OpenSharedResourceByName
        """,
    ),
    "ID3D11DeviceContext2": (
        "ID3D11DeviceContext1",
        """
        UpdateTileMappings CopyTileMappings CopyTiles UpdateTiles ResizeTilePool
        TiledResourceBarrier IsAnnotationEnabled SetMarkerInt BeginEventInt EndEvent
        """,
    ),
    "ID3D11Device2": (
        "ID3D11Device1",
        """
        GetImmediateContext2 CreateDeferredContext2 GetResourceTiling
        CheckMultisampleQualityLevels1
        """,
    ),
    "ID3D11Texture2D1": ("ID3D11Buffer", "GetDesc1"),
    "ID3D11Texture3D1": ("ID3D11Texture2D1", ""),
    "ID3D11RasterizerState2": ("ID3D10BlendState1", "GetDesc2"),
    "ID3D11ShaderResourceView1": ("ID3D10ShaderResourceView1", ""),
    "ID3D11RenderTargetView1": ("ID3D10ShaderResourceView1", ""),
    "ID3D11UnorderedAccessView1": ("ID3D10ShaderResourceView1", ""),
    "ID3D11Query1": ("ID3D11Query", "GetDesc1"),
    "ID3D11DeviceContext3": (
        "ID3D11DeviceContext2",
        """
        Flush1 SetHardwareProtectionState GetHardwareProtectionState
        """,
    ),
    "ID3D11Fence": (
        "ID3D10DeviceChild",
        """
        CreateSharedHandle GetCompletedValue SetEventOnCompletion
        """,
    ),
    "ID3D11DeviceContext4": ("ID3D11DeviceContext3", "Signal Wait"),
    "ID3D11Device3": (
        "ID3D11Device2",
        """
        CreateTexture2D1 CreateTexture3D1 CreateRasterizerState2 CreateShaderResourceView1
        CreateUnorderedAccessView1 CreateRenderTargetView1 CreateQuery1 GetImmediateContext3
        CreateDeferredContext3 WriteToSubresource ReadFromSubresource
        """,
    ),
    "ID3D11Device4": ("ID3D11Device3", "RegisterDeviceRemovedEvent UnregisterDeviceRemoved"),
    "ID3D11Device5": ("ID3D11Device4", "OpenSharedFence CreateFence"),
    "ID3D11Multithread": ("ID3D10Multithread", ""),
    "ID3D11VideoContext2": (
        "ID3D11VideoContext1",
        """
        VideoProcessorSetOutputHDRMetaData VideoProcessorGetOutputHDRMetaData
        VideoProcessorSetStreamHDRMetaData VideoProcessorGetStreamHDRMetaData
        """,
    ),
    "ID3D11Debug": (
        "IUnknown",
        """
        SetFeatureMask GetFeatureMask SetPresentPerRenderOpDelay GetPresentPerRenderOpDelay
        SetSwapChain GetSwapChain ValidateContext ReportLiveDeviceObjects
        ValidateContextForDispatch
        """,
    ),
    "ID3D11SwitchToRef": ("ID3D10SwitchToRef", ""),
    "ID3D11InfoQueue": ("ID3D10InfoQueue", ""),
    "ID3D11ShaderReflectionType": (
        "ID3D10ShaderReflectionType",
        """
        IsEqual GetSubType GetBaseClass GetNumInterfaces GetInterfaceByIndex IsOfType
        ImplementsInterface
        """,
    ),
    "ID3D11ShaderReflectionVariable": (
        "ID3D10ShaderReflectionVariable",
        """
        GetBuffer GetInterfaceSlot
        """,
    ),
    "ID3D11ShaderReflectionConstantBuffer": ("ID3D10ShaderReflectionConstantBuffer", ""),
    "ID3D11ShaderReflection": (
        "ID3D10ShaderReflection",
        """
        GetPatchConstantParameterDesc GetVariableByName GetResourceBindingDescByName
        GetMovInstructionCount GetMovcInstructionCount GetConversionInstructionCount
        GetBitwiseInstructionCount GetGSInputPrimitive IsSampleFrequencyShader
        GetNumInterfaceSlots GetMinFeatureLevel GetThreadGroupSize GetRequiresFlags
        """,
    ),
    "ID3D11ModuleInstance": (
        "IUnknown",
        """
        BindConstantBuffer BindConstantBufferByName BindResource BindResourceByName
        BindSampler BindSamplerByName BindUnorderedAccessView BindUnorderedAccessViewByName
        BindResourceAsUnorderedAccessView BindResourceAsUnorderedAccessViewByName
        """,
    ),
    "ID3D11Module": ("IUnknown", "CreateInstance"),
    "ID3D10Blob": ("IUnknown", "GetBufferPointer GetBufferSize"),
    "ID3DDestructionNotifier": (
        "IUnknown",
        """
        RegisterDestructionCallback UnregisterDestructionCallback
        """,
    ),
    "ID3DInclude": ("", "Open Close"),
}
"""The interface with the methods that come first, and the methods that an interface adds."""


def _all(interface: str) -> list[str]:
    first, added = _DECLARED[interface]
    return [*(_all(first) if first else []), *added.split()]


INTERFACES = {interface: _all(interface) for interface in _DECLARED if interface != "IUnknown"}
"""Interface -> its methods."""
_FUNCTIONS = """
    D3D10CreateDevice D3D10CreateDevice1 D3D10CreateDeviceAndSwapChain
    D3D10CreateDeviceAndSwapChain1 D3D10CreateStateBlock D3D10StateBlockMaskUnion
    D3D10StateBlockMaskIntersect D3D10StateBlockMaskDifference D3D10StateBlockMaskEnableCapture
    D3D10StateBlockMaskDisableCapture D3D10StateBlockMaskEnableAll D3D10StateBlockMaskDisableAll
    D3D10StateBlockMaskGetSetting D3D10CreateBlob D3D10CompileShader D3D10DisassembleShader
    D3D10PreprocessShader D3D10GetPixelShaderProfile D3D10GetVertexShaderProfile
    D3D10GetGeometryShaderProfile D3D10GetInputSignatureBlob D3D10GetOutputSignatureBlob
    D3D10GetInputAndOutputSignatureBlob D3D10GetShaderDebugInfo D3D10ReflectShader
    D3D10CompileEffectFromMemory D3D10CreateEffectFromMemory D3D10CreateEffectPoolFromMemory
    D3D10DisassembleEffect D3D11CreateDevice D3D11CreateDeviceAndSwapChain D3D11CoreCreateDevice
    D3D11On12CreateDevice D3DCompile D3DCompile2 D3DCompileFromFile D3DPreprocess D3DDisassemble
    D3DReflect D3DGetInputSignatureBlob D3DGetBlobPart D3DStripShader D3DCreateBlob
"""
FUNCTIONS = _FUNCTIONS.split()
