/* What the sample driver tells of itself, by DdGetDriverInfo: an optional part. */
#include "sample.h"

#define DDI_OF_9 4  /* the driver interface of DirectX 9 */
#define COMPARES 0xffu  /* D3DPCMPCAPS_NEVER to _ALWAYS */
#define FACTORS \
    (D3DPBLENDCAPS_ZERO | D3DPBLENDCAPS_ONE | D3DPBLENDCAPS_SRCCOLOR | D3DPBLENDCAPS_INVSRCCOLOR | \
     D3DPBLENDCAPS_SRCALPHA | D3DPBLENDCAPS_INVSRCALPHA | D3DPBLENDCAPS_DESTALPHA | \
     D3DPBLENDCAPS_INVDESTALPHA | D3DPBLENDCAPS_DESTCOLOR | D3DPBLENDCAPS_INVDESTCOLOR | \
     D3DPBLENDCAPS_SRCALPHASAT)
#define CULLING (D3DPMISCCAPS_CULLNONE | D3DPMISCCAPS_CULLCW | D3DPMISCCAPS_CULLCCW)
#define SHADES \
    (D3DPSHADECAPS_COLORFLATRGB | D3DPSHADECAPS_COLORGOURAUDRGB | \
     D3DPSHADECAPS_ALPHAFLATBLEND | D3DPSHADECAPS_ALPHAGOURAUDBLEND)

static dp2_u32 unknown(DD_GETDRIVERINFODATA *data)
{
    data->dwActualSize = 0;
    data->ddRVal = DDERR_CURRENTLYNOTAVAIL;
    return DDHAL_DRIVER_HANDLED;
}

static dp2_u32 told(DD_GETDRIVERINFODATA *data, const void *answer, size_t size)
{
    size_t room = data->dwExpectedSize;
    dp2stub_copy((void *)data->lpvData, answer, size < room ? size : room);
    data->dwActualSize = (dp2_u32)size;
    data->ddRVal = D3D_OK;
    return DDHAL_DRIVER_HANDLED;
}

static int is(const DD_GETDRIVERINFODATA *data, const dp2_u8 *guid)
{
    const dp2_u8 *asked = (const dp2_u8 *)&data->guidInfo;
    int i;
    for (i = 0; i < DP2STUB_GUID_BYTES; i++)
        if (asked[i] != guid[i])
            return 0;
    return 1;
}

#if SAMPLE_DDI < 8

static dp2_u32 device(DD_GETDRIVERINFODATA *data)
{
    static D3DHAL_GLOBALDRIVERDATA all;
    all.dwSize = sizeof(all);
    all.hwCaps.dwDeviceRenderBitDepth = DDBD_32;
    all.hwCaps.dpcTriCaps.dwMiscCaps = CULLING;
    all.hwCaps.dpcTriCaps.dwSrcBlendCaps = FACTORS;
    all.hwCaps.dpcTriCaps.dwDestBlendCaps = FACTORS;
    all.hwCaps.dpcTriCaps.dwAlphaCmpCaps = COMPARES;
    all.hwCaps.dpcTriCaps.dwShadeCaps = SHADES;
    return told(data, &all, sizeof(all));
}

#if SAMPLE_DDI > 6
static dp2_u32 extended(DD_GETDRIVERINFODATA *data)
{
    static D3DHAL_D3DEXTENDEDCAPS all;
    all.dwSize = sizeof(all);
    return told(data, &all, sizeof(all));
}
#endif

dp2_u32 DP2_ENTRY DdGetDriverInfo(DD_GETDRIVERINFODATA *data)
{
    static const dp2_u8 known[] = GUID_D3DCAPS_BYTES, more[] = GUID_D3DEXTENDEDCAPS_BYTES;
    if (is(data, known))
        return device(data);
#if SAMPLE_DDI > 6
    if (is(data, more))
        return extended(data);
#endif
    (void)more;
    return unknown(data);
}

#else

#if SAMPLE_DDI > 8
typedef D3DCAPS9 device_caps;
#else
typedef D3DCAPS8 device_caps;
#endif

static const device_caps *device(void)
{
    static device_caps all;
    all.PrimitiveMiscCaps = CULLING | D3DPMISCCAPS_COLORWRITEENABLE | D3DPMISCCAPS_BLENDOP;
    all.SrcBlendCaps = all.DestBlendCaps = FACTORS;
    all.AlphaCmpCaps = COMPARES;
    all.ShadeCaps = SHADES;
    all.MaxStreams = STREAMS;
    all.MaxPrimitiveCount = 0xffff;
    all.MaxVertexIndex = 0xffffff;
#if SAMPLE_DDI > 8
    all.SrcBlendCaps = all.DestBlendCaps = FACTORS | D3DPBLENDCAPS_BLENDFACTOR;
    all.RasterCaps = D3DPRASTERCAPS_SCISSORTEST;
    all.DevCaps2 = D3DDEVCAPS2_STREAMOFFSET;
    all.NumSimultaneousRTs = 1;
#endif
    return &all;
}

static dp2_u32 format(DD_GETDRIVERINFODATA *data)
{
    static const dp2_u32 known[] = {D3DFMT_A8R8G8B8, D3DFMT_X8R8G8B8};
    DD_GETFORMATDATA answer;
    dp2stub_copy(&answer, (void *)data->lpvData, sizeof(answer));
    if (answer.dwFormatIndex >= sizeof(known) / sizeof(*known))
        return unknown(data);
    answer.format.dwSize = sizeof(answer.format);
    answer.format.dwFlags = DDPF_D3DFORMAT;
    answer.format.dwFourCC = known[answer.dwFormatIndex];
    answer.format.dwRBitMask = D3DFORMAT_OP_OFFSCREEN_RENDERTARGET;  /* dwOperations */
    return told(data, &answer, sizeof(answer));
}

/* A structure whose first member behind the head is the answer. */
static dp2_u32 number(DD_GETDRIVERINFODATA *data, dp2_u32 value)
{
    dp2log_put32((dp2_u8 *)data->lpvData + sizeof(DD_GETDRIVERINFO2DATA), value);
    data->dwActualSize = data->dwExpectedSize;
    data->ddRVal = D3D_OK;
    return DDHAL_DRIVER_HANDLED;
}

#if SAMPLE_DDI > 8
static dp2_u32 query_type(DD_GETDRIVERINFODATA *data)
{
    static const dp2_u32 known[] = {
        D3DQUERYTYPE_VCACHE, D3DQUERYTYPE_EVENT, D3DQUERYTYPE_OCCLUSION
    };
    DD_GETD3DQUERYDATA answer;
    dp2stub_copy(&answer, (void *)data->lpvData, sizeof(answer));
    if (answer.QueryType >= sizeof(known) / sizeof(*known))  /* the index, before it is answered */
        return unknown(data);
    answer.QueryType = known[answer.QueryType];
    return told(data, &answer, sizeof(answer));
}

static dp2_u32 version(DD_GETDRIVERINFODATA *data)
{
    DD_GETDDIVERSIONDATA answer;
    dp2stub_copy(&answer, (void *)data->lpvData, sizeof(answer));
    answer.dwDDIVersion = DDI_OF_9;
    return told(data, &answer, sizeof(answer));
}
#endif

static dp2_u32 second(DD_GETDRIVERINFODATA *data)
{
    DD_GETDRIVERINFO2DATA head;
    dp2stub_copy(&head, (void *)data->lpvData, sizeof(head));
    if (head.dwMagic != D3DGDI2_MAGIC || data->dwExpectedSize < sizeof(head) + 4)
        return unknown(data);
    switch (head.dwType) {
    case D3DGDI2_TYPE_GETD3DCAPS8:
        return told(data, device(), sizeof(D3DCAPS8));
    case D3DGDI2_TYPE_GETFORMATCOUNT:
        return number(data, 2);
    case D3DGDI2_TYPE_GETFORMAT:
        return format(data);
#if SAMPLE_DDI > 8
    case D3DGDI2_TYPE_GETD3DCAPS9:
        return told(data, device(), sizeof(D3DCAPS9));
    case D3DGDI2_TYPE_GETDDIVERSION:
        return version(data);
    case D3DGDI2_TYPE_GETD3DQUERYCOUNT:
        return number(data, 3);
    case D3DGDI2_TYPE_GETD3DQUERY:
        return query_type(data);
#endif
    default:
        return unknown(data);
    }
}

dp2_u32 DP2_ENTRY DdGetDriverInfo(DD_GETDRIVERINFODATA *data)
{
    static const dp2_u8 guid[] = GUID_GETDRIVERINFO2_BYTES;
    if (is(data, guid) && data->dwExpectedSize >= sizeof(DD_GETDRIVERINFO2DATA))
        return second(data);
    return unknown(data);
}

#endif
