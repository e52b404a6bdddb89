"""Functions of Direct3D 10 and 11 beside drawing: tools, compilers, and what cannot be expressed.

A creation that cannot be expressed is the loss; methods of the object that was not created are
losses only if they change what is drawn.
"""

from __future__ import annotations

from dp2emu.retrace.d3d11.objects import CONTEXT, DEVICE, DEVICES
from dp2emu.retrace.program import NO_EFFECT, inert, lost

_UNKNOWN = "QueryInterface AddRef Release"
_CHILD = f"{_UNKNOWN} GetDevice GetPrivateData SetPrivateData SetPrivateDataInterface"
_NOT_CREATED = "The creation of the object is the loss."


# Tools

_QUEUES = "ID3D10InfoQueue ID3D11InfoQueue"
_DEBUG = "ID3D10Debug ID3D11Debug"

inert(
    "ID3D10Multithread ID3D11Multithread",
    "Enter Leave SetMultithreadProtected GetMultithreadProtected",
    "Orders threads; calls are imported in the order of the trace.",
)
inert(
    _DEBUG,
    "SetFeatureMask GetFeatureMask SetPresentPerRenderOpDelay GetPresentPerRenderOpDelay "
    "SetSwapChain GetSwapChain",
    NO_EFFECT,
)
inert("ID3D10Debug", "Validate", NO_EFFECT)
inert(
    "ID3D11Debug", "ValidateContext ReportLiveDeviceObjects ValidateContextForDispatch", NO_EFFECT
)
inert(
    _QUEUES,
    "SetMessageCountLimit ClearStoredMessages GetMessage GetNumMessagesAllowedByStorageFilter "
    "GetNumMessagesDeniedByStorageFilter GetNumStoredMessages "
    "GetNumStoredMessagesAllowedByRetrievalFilter GetNumMessagesDiscardedByMessageCountLimit "
    "GetMessageCountLimit AddStorageFilterEntries GetStorageFilter ClearStorageFilter "
    "PushEmptyStorageFilter PushCopyOfStorageFilter PushStorageFilter PopStorageFilter "
    "GetStorageFilterStackSize AddRetrievalFilterEntries GetRetrievalFilter "
    "ClearRetrievalFilter PushEmptyRetrievalFilter PushCopyOfRetrievalFilter "
    "PushRetrievalFilter PopRetrievalFilter GetRetrievalFilterStackSize AddMessage "
    "AddApplicationMessage SetBreakOnCategory SetBreakOnSeverity SetBreakOnID "
    "GetBreakOnCategory GetBreakOnSeverity GetBreakOnID SetMuteDebugOutput GetMuteDebugOutput",
    "Messages of the debug layer, for tools.",
)
inert("ID3D10SwitchToRef ID3D11SwitchToRef", "SetUseRef GetUseRef", "There is one implementation.")
inert(
    "ID3DDestructionNotifier",
    "RegisterDestructionCallback UnregisterDestructionCallback",
    "Calls a function of the program.",
)
inert("ID3D11TracingDevice", f"{_UNKNOWN} SetShaderTrackingOptionsByType", NO_EFFECT)
inert("ID3D11TracingDevice", "SetShaderTrackingOptions", NO_EFFECT)
inert("ID3D11RefTrackingOptions", f"{_UNKNOWN} SetTrackingOptions", NO_EFFECT)
inert("ID3D11RefDefaultTrackingOptions", f"{_UNKNOWN} SetTrackingOptions", NO_EFFECT)
inert("", "D3D10RegisterLayers D3D10GetVersion D3D11CoreRegisterLayers", NO_EFFECT)
inert("", "D3D11CoreGetLayeredDeviceSize", NO_EFFECT)


# Blobs, compilers and reflection

_COMPILES = "Compiles or reads shaders; the calls that create them carry the result."
_REFLECTION = "Describes a compiled shader."

inert("ID3D10Blob ID3DBlob", f"{_UNKNOWN} GetBufferPointer GetBufferSize", _COMPILES)
inert("ID3DInclude ID3D10Include", "Open Close", _COMPILES)
inert(
    "",
    "D3D10CreateBlob D3D10CompileShader D3D10DisassembleShader D3D10PreprocessShader "
    "D3D10GetPixelShaderProfile D3D10GetVertexShaderProfile D3D10GetGeometryShaderProfile "
    "D3D10GetInputSignatureBlob D3D10GetOutputSignatureBlob "
    "D3D10GetInputAndOutputSignatureBlob D3D10GetShaderDebugInfo D3D10ReflectShader "
    "D3D10CompileEffectFromMemory D3D10DisassembleEffect",
    _COMPILES,
)
inert(
    "",
    "D3DCompile D3DCompile2 D3DCompileFromFile D3DPreprocess D3DDisassemble "
    "D3DDisassembleRegion D3DDisassemble10Effect D3DDisassemble11Trace D3DAssemble D3DReflect "
    "D3DReflectLibrary D3DGetInputSignatureBlob D3DGetOutputSignatureBlob "
    "D3DGetInputAndOutputSignatureBlob D3DGetDebugInfo D3DGetBlobPart D3DSetBlobPart "
    "D3DStripShader D3DCreateBlob D3DReadFileToBlob D3DWriteBlobToFile D3DCompressShaders "
    "D3DDecompressShaders D3DCreateLinker D3DLoadModule D3DCreateFunctionLinkingGraph "
    "D3DGetTraceInstructionOffsets",
    _COMPILES,
)
_TYPES = "GetDesc GetMemberTypeByIndex GetMemberTypeByName GetMemberTypeName"
_COUNTS = (
    "GetVariableByName GetResourceBindingDescByName GetMovInstructionCount "
    "GetMovcInstructionCount GetConversionInstructionCount GetBitwiseInstructionCount "
    "GetGSInputPrimitive IsSampleFrequencyShader"
)
_READS = (
    "GetDesc GetConstantBufferByIndex GetConstantBufferByName GetResourceBindingDesc "
    "GetInputParameterDesc GetOutputParameterDesc"
)
inert("ID3D10ShaderReflectionType ID3D11ShaderReflectionType", _TYPES, _REFLECTION)
inert(
    "ID3D11ShaderReflectionType",
    "IsEqual GetSubType GetBaseClass GetNumInterfaces GetInterfaceByIndex IsOfType "
    "ImplementsInterface",
    _REFLECTION,
)
inert(
    "ID3D10ShaderReflectionVariable ID3D11ShaderReflectionVariable", "GetDesc GetType", _REFLECTION
)
inert("ID3D11ShaderReflectionVariable", "GetBuffer GetInterfaceSlot", _REFLECTION)
inert(
    "ID3D10ShaderReflectionConstantBuffer ID3D11ShaderReflectionConstantBuffer",
    "GetDesc GetVariableByIndex GetVariableByName",
    _REFLECTION,
)
inert(
    "ID3D10ShaderReflection ID3D11ShaderReflection", f"{_UNKNOWN} {_READS} {_COUNTS}", _REFLECTION
)
inert("ID3D10ShaderReflection", "IsLevel9Shader", _REFLECTION)
inert(
    "ID3D11ShaderReflection",
    "GetPatchConstantParameterDesc GetNumInterfaceSlots GetMinFeatureLevel GetThreadGroupSize "
    "GetRequiresFlags",
    _REFLECTION,
)
inert("ID3D11Module", f"{_UNKNOWN} CreateInstance", _COMPILES)
inert(
    "ID3D11ModuleInstance",
    f"{_UNKNOWN} BindConstantBuffer BindConstantBufferByName BindResource BindResourceByName "
    "BindSampler BindSamplerByName BindUnorderedAccessView BindUnorderedAccessViewByName "
    "BindResourceAsUnorderedAccessView BindResourceAsUnorderedAccessViewByName",
    _COMPILES,
)


# What the emulated device does not have

_COUNTER = "a counter of the recording machine's driver"
_TILES = "tiled resources"
_FENCES = "fences"

lost(DEVICES, "CreateCounter", _COUNTER)
inert("ID3D10Counter", f"{_CHILD} GetDesc GetDataSize Begin End GetData", _NOT_CREATED)
inert("ID3D11Counter", f"{_CHILD} GetDesc GetDataSize", _NOT_CREATED)
lost(
    CONTEXT,
    "UpdateTileMappings CopyTileMappings CopyTiles UpdateTiles ResizeTilePool "
    "TiledResourceBarrier",
    _TILES,
)
inert(DEVICE, "GetResourceTiling", NO_EFFECT)
lost(DEVICE, "WriteToSubresource ReadFromSubresource", "maps of resources of default usage")
lost(DEVICE, "CreateFence OpenSharedFence", _FENCES)
inert(
    "ID3D11Fence", f"{_CHILD} CreateSharedHandle GetCompletedValue SetEventOnCompletion",
    _NOT_CREATED,
)  # fmt: skip
lost(CONTEXT, "Signal Wait", _FENCES)
lost(
    "",
    "D3D11CoreCreateDevice D3D11CoreCreateLayeredDevice D3D10CoreCreateDevice",
    "an entry point that is not documented",
)
lost("", "D3D11On12CreateDevice", "a device of Direct3D 12")


# Video

_VIDEO = "video"

lost(
    "ID3D11VideoDevice",
    "CreateVideoDecoder CreateVideoProcessor CreateAuthenticatedChannel CreateCryptoSession "
    "CreateVideoDecoderOutputView CreateVideoProcessorInputView CreateVideoProcessorOutputView "
    "CreateVideoProcessorEnumerator",
    _VIDEO,
)
inert(
    "ID3D11VideoDevice",
    "GetVideoDecoderProfileCount GetVideoDecoderProfile CheckVideoDecoderFormat "
    "GetVideoDecoderConfigCount GetVideoDecoderConfig GetContentProtectionCaps "
    "CheckCryptoKeyExchange SetPrivateData SetPrivateDataInterface "
    "GetCryptoSessionPrivateDataSize GetVideoDecoderCaps CheckVideoDecoderDownsampling "
    "RecommendVideoDecoderDownsampleParameters CheckFeatureSupport "
    "NegotiateCryptoSessionKeyExchangeMT",
    NO_EFFECT,
)
_OUTPUTS = (
    "TargetRect BackgroundColor ColorSpace AlphaFillMode Constriction StereoMode Extension "
    "ColorSpace1 ShaderUsage HDRMetaData"
)
_STREAMS = (
    "FrameFormat ColorSpace OutputRate SourceRect DestRect Alpha Palette PixelAspectRatio LumaKey "
    "StereoFormat AutoProcessingMode Filter Extension Rotation ColorSpace1 Mirror HDRMetaData"
)


def _processor(verb: str) -> str:
    """Names of the methods that set or get the state of a video processor."""
    outputs = [f"VideoProcessor{verb}Output{each}" for each in _OUTPUTS.split()]
    return " ".join(outputs + [f"VideoProcessor{verb}Stream{each}" for each in _STREAMS.split()])


lost(
    "ID3D11VideoContext",
    f"{_processor('Set')} GetDecoderBuffer ReleaseDecoderBuffer DecoderBeginFrame "
    "DecoderEndFrame SubmitDecoderBuffers SubmitDecoderBuffers1 DecoderExtension "
    "DecoderEnableDownsampling DecoderUpdateDownsampling VideoProcessorBlt EncryptionBlt "
    "DecryptionBlt NegotiateCryptoSessionKeyExchange StartSessionKeyRefresh "
    "FinishSessionKeyRefresh NegotiateAuthenticatedChannelKeyExchange "
    "ConfigureAuthenticatedChannel",
    _VIDEO,
)
inert(
    "ID3D11VideoContext",
    f"{_processor('Get')} GetDevice GetPrivateData SetPrivateData SetPrivateDataInterface "
    "GetEncryptionBltKey QueryAuthenticatedChannel GetDataForNewHardwareKey "
    "CheckCryptoSessionStatus VideoProcessorGetBehaviorHints",
    NO_EFFECT,
)
_VIDEO_OBJECTS = {
    "ID3D11VideoDecoder": "GetCreationParameters GetDriverHandle",
    "ID3D11VideoProcessor": "GetContentDesc GetRateConversionCaps",
    "ID3D11VideoProcessorEnumerator": (
        "GetVideoProcessorContentDesc CheckVideoProcessorFormat GetVideoProcessorCaps "
        "GetVideoProcessorRateConversionCaps GetVideoProcessorCustomRate "
        "GetVideoProcessorFilterRange CheckVideoProcessorFormatConversion"
    ),
    "ID3D11VideoDecoderOutputView": "GetResource GetDesc",
    "ID3D11VideoProcessorInputView": "GetResource GetDesc",
    "ID3D11VideoProcessorOutputView": "GetResource GetDesc",
    "ID3D11CryptoSession": (
        "GetCryptoType GetDecoderProfile GetCertificateSize GetCertificate GetCryptoSessionHandle"
    ),
    "ID3D11AuthenticatedChannel": "GetCertificateSize GetCertificate GetChannelHandle",
}
"""The methods of objects of video, without the methods of all objects, by interface."""

for _interface, _names in _VIDEO_OBJECTS.items():
    inert(_interface, f"{_CHILD} {_names}", _NOT_CREATED)


# Effects of Direct3D 10

_EFFECT = "effects, whose state and shaders the runtime's library holds"
_TECHNIQUES = "ID3D10EffectTechnique ID3D10EffectPass"
_ANNOTATIONS = "IsValid GetDesc GetAnnotationByIndex GetAnnotationByName"
_VARIABLES = {
    "Variable": ("", ""),
    "ConstantBuffer": (
        "SetConstantBuffer SetTextureBuffer", "GetConstantBuffer GetTextureBuffer"
    ),
    "ScalarVariable": (
        "SetFloat SetFloatArray SetInt SetIntArray SetBool SetBoolArray",
        "GetFloat GetFloatArray GetInt GetIntArray GetBool GetBoolArray",
    ),
    "VectorVariable": (
        "SetBoolVector SetIntVector SetFloatVector SetBoolVectorArray SetIntVectorArray "
        "SetFloatVectorArray",
        "GetBoolVector GetIntVector GetFloatVector GetBoolVectorArray GetIntVectorArray "
        "GetFloatVectorArray",
    ),
    "MatrixVariable": (
        "SetMatrix SetMatrixArray SetMatrixTranspose SetMatrixTransposeArray",
        "GetMatrix GetMatrixArray GetMatrixTranspose GetMatrixTransposeArray",
    ),
    "StringVariable": ("", "GetString GetStringArray"),
    "ShaderResourceVariable": (
        "SetResource SetResourceArray", "GetResource GetResourceArray"
    ),
    "RenderTargetViewVariable": (
        "SetRenderTarget SetRenderTargetArray", "GetRenderTarget GetRenderTargetArray"
    ),
    "DepthStencilViewVariable": (
        "SetDepthStencil SetDepthStencilArray", "GetDepthStencil GetDepthStencilArray"
    ),
    "ShaderVariable": (
        "GetVertexShader GetGeometryShader GetPixelShader",
        "GetShaderDesc GetInputSignatureElementDesc GetOutputSignatureElementDesc",
    ),
    "BlendVariable": ("GetBlendState", "GetBackingStore"),
    "DepthStencilVariable": ("GetDepthStencilState", "GetBackingStore"),
    "RasterizerVariable": ("GetRasterizerState", "GetBackingStore"),
    "SamplerVariable": ("GetSampler", "GetBackingStore"),
}  # fmt: skip
"""The methods of an effect's variables that are losses, and the methods that only read,
without the methods of all variables, by kind."""

lost("", "D3D10CreateEffectFromMemory D3D10CreateEffectPoolFromMemory", _EFFECT)
lost("ID3D10EffectPass", "Apply", _EFFECT)
inert(_TECHNIQUES, f"{_ANNOTATIONS} ComputeStateBlockMask", NO_EFFECT)
inert("ID3D10EffectTechnique", "GetPassByIndex GetPassByName", NO_EFFECT)
inert(
    "ID3D10EffectPass", "GetVertexShaderDesc GetGeometryShaderDesc GetPixelShaderDesc", NO_EFFECT
)
inert("ID3D10EffectPool", f"{_UNKNOWN} AsEffect", _NOT_CREATED)
inert(
    "ID3D10Effect",
    f"{_UNKNOWN} IsValid IsPool GetDevice GetDesc GetConstantBufferByIndex "
    "GetConstantBufferByName GetVariableByIndex GetVariableByName GetVariableBySemantic "
    "GetTechniqueByIndex GetTechniqueByName Optimize IsOptimized",
    _NOT_CREATED,
)
inert(
    "ID3D10EffectType",
    "IsValid GetDesc GetMemberTypeByIndex GetMemberTypeByName GetMemberTypeBySemantic "
    "GetMemberName GetMemberSemantic",
    NO_EFFECT,
)
for _kind, (_lost, _read) in _VARIABLES.items():
    _interface = f"ID3D10Effect{_kind}"
    lost(_interface, f"SetRawValue {_lost}", _EFFECT)
    inert(
        _interface,
        f"{_ANNOTATIONS} GetType GetMemberByIndex GetMemberByName GetMemberBySemantic GetElement "
        "GetParentConstantBuffer AsScalar AsVector AsMatrix AsString AsShaderResource "
        "AsRenderTargetView AsDepthStencilView AsConstantBuffer AsShader AsBlend AsDepthStencil "
        f"AsRasterizer AsSampler GetRawValue {_read}",
        NO_EFFECT,
    )
