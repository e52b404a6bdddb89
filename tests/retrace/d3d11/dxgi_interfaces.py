"""The methods of the interfaces of DXGI, as the headers of the SDK declare them: each version of
an interface with the methods that it adds."""

from __future__ import annotations

_UNKNOWN = "QueryInterface AddRef Release"
_OBJECT = f"{_UNKNOWN} SetPrivateData SetPrivateDataInterface GetPrivateData GetParent"
_PART = f"{_OBJECT} GetDevice"

INTERFACES: dict[str, str] = {
    "IDXGIObject": _OBJECT,
    "IDXGIDeviceSubObject": _PART,
    "IDXGIResource": f"{_PART} GetSharedHandle GetUsage SetEvictionPriority GetEvictionPriority",
    "IDXGIResource1": "CreateSubresourceSurface CreateSharedHandle",
    "IDXGIKeyedMutex": f"{_PART} AcquireSync ReleaseSync",
    "IDXGISurface": f"{_PART} GetDesc Map Unmap",
    "IDXGISurface1": "GetDC ReleaseDC",
    "IDXGISurface2": "GetResource",
    "IDXGIAdapter": f"{_OBJECT} EnumOutputs GetDesc CheckInterfaceSupport",
    "IDXGIAdapter1": "GetDesc1",
    "IDXGIAdapter2": "GetDesc2",
    "IDXGIAdapter3": """
        RegisterHardwareContentProtectionTeardownStatusEvent
        UnregisterHardwareContentProtectionTeardownStatus QueryVideoMemoryInfo
        SetVideoMemoryReservation RegisterVideoMemoryBudgetChangeNotificationEvent
        UnregisterVideoMemoryBudgetChangeNotification
    """,
    "IDXGIAdapter4": "GetDesc3",
    "IDXGIOutput": f"""
        {_OBJECT} GetDesc GetDisplayModeList FindClosestMatchingMode WaitForVBlank TakeOwnership
        ReleaseOwnership GetGammaControlCapabilities SetGammaControl GetGammaControl
        SetDisplaySurface GetDisplaySurfaceData GetFrameStatistics
    """,
    "IDXGIOutput1": """
        GetDisplayModeList1 FindClosestMatchingMode1 GetDisplaySurfaceData1 DuplicateOutput
    """,
    "IDXGIOutput2": "SupportsOverlays",
    "IDXGIOutput3": "CheckOverlaySupport",
    "IDXGIOutput4": "CheckOverlayColorSpaceSupport",
    "IDXGIOutput5": "DuplicateOutput1",
    "IDXGIOutput6": "GetDesc1 CheckHardwareCompositionSupport",
    "IDXGIOutputDuplication": f"""
        {_OBJECT} GetDesc AcquireNextFrame GetFrameDirtyRects GetFrameMoveRects
        GetFramePointerShape MapDesktopSurface UnMapDesktopSurface ReleaseFrame
    """,
    "IDXGISwapChain": f"""
        {_PART} Present GetBuffer SetFullscreenState GetFullscreenState GetDesc ResizeBuffers
        ResizeTarget GetContainingOutput GetFrameStatistics GetLastPresentCount
    """,
    "IDXGISwapChain1": """
        GetDesc1 GetFullscreenDesc GetHwnd GetCoreWindow Present1 IsTemporaryMonoSupported
        GetRestrictToOutput SetBackgroundColor GetBackgroundColor SetRotation GetRotation
    """,
    "IDXGISwapChain2": """
        SetSourceSize GetSourceSize SetMaximumFrameLatency GetMaximumFrameLatency
        GetFrameLatencyWaitableObject SetMatrixTransform GetMatrixTransform
    """,
    "IDXGISwapChain3": """
        GetCurrentBackBufferIndex CheckColorSpaceSupport SetColorSpace1 ResizeBuffers1
    """,
    "IDXGISwapChain4": "SetHDRMetaData",
    "IDXGISwapChainMedia": f"""
        {_UNKNOWN} GetFrameStatisticsMedia SetPresentDuration CheckPresentDurationSupport
    """,
    "IDXGIFactory": f"""
        {_OBJECT} EnumAdapters MakeWindowAssociation GetWindowAssociation CreateSwapChain
        CreateSoftwareAdapter
    """,
    "IDXGIFactory1": "EnumAdapters1 IsCurrent",
    "IDXGIFactory2": """
        IsWindowedStereoEnabled CreateSwapChainForHwnd CreateSwapChainForCoreWindow
        GetSharedResourceAdapterLuid RegisterStereoStatusWindow RegisterStereoStatusEvent
        UnregisterStereoStatus RegisterOcclusionStatusWindow RegisterOcclusionStatusEvent
        UnregisterOcclusionStatus CreateSwapChainForComposition
    """,
    "IDXGIFactory3": "GetCreationFlags",
    "IDXGIFactory4": "EnumAdapterByLuid EnumWarpAdapter",
    "IDXGIFactory5": "CheckFeatureSupport",
    "IDXGIFactory6": "EnumAdapterByGpuPreference",
    "IDXGIFactory7": "RegisterAdaptersChangedEvent UnregisterAdaptersChangedEvent",
    "IDXGIFactoryMedia": f"""
        {_UNKNOWN} CreateSwapChainForCompositionSurfaceHandle
        CreateDecodeSwapChainForCompositionSurfaceHandle
    """,
    "IDXGIDevice": f"""
        {_OBJECT} GetAdapter CreateSurface QueryResourceResidency SetGPUThreadPriority
        GetGPUThreadPriority
    """,
    "IDXGIDevice1": "SetMaximumFrameLatency GetMaximumFrameLatency",
    "IDXGIDevice2": "OfferResources ReclaimResources EnqueueSetEvent",
    "IDXGIDevice3": "Trim",
    "IDXGIDevice4": "OfferResources1 ReclaimResources1",
    "IDXGIDebug": f"{_UNKNOWN} ReportLiveObjects",
    "IDXGIDebug1": """
        EnableLeakTrackingForThread DisableLeakTrackingForThread IsLeakTrackingEnabledForThread
    """,
    "IDXGIInfoQueue": f"""
        {_UNKNOWN} SetMessageCountLimit ClearStoredMessages GetMessage
        GetNumStoredMessagesAllowedByRetrievalFilters GetNumStoredMessages
        GetNumMessagesDiscardedByMessageCountLimit GetMessageCountLimit
        GetNumMessagesAllowedByStorageFilter GetNumMessagesDeniedByStorageFilter
        AddStorageFilterEntries GetStorageFilter ClearStorageFilter PushEmptyStorageFilter
        PushDenyAllStorageFilter PushCopyOfStorageFilter PushStorageFilter PopStorageFilter
        GetStorageFilterStackSize AddRetrievalFilterEntries GetRetrievalFilter
        ClearRetrievalFilter PushEmptyRetrievalFilter PushDenyAllRetrievalFilter
        PushCopyOfRetrievalFilter PushRetrievalFilter PopRetrievalFilter
        GetRetrievalFilterStackSize AddMessage AddApplicationMessage SetBreakOnCategory
        SetBreakOnSeverity SetBreakOnID GetBreakOnCategory GetBreakOnSeverity GetBreakOnID
        SetMuteDebugOutput GetMuteDebugOutput
    """,
}
FUNCTIONS = """
    CreateDXGIFactory CreateDXGIFactory1 CreateDXGIFactory2 DXGIGetDebugInterface
    DXGIGetDebugInterface1 DXGIDeclareAdapterRemovalSupport DXGIDisableVBlankVirtualization
"""
