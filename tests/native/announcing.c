/* A driver of nothing but DdGetDriverInfo: of version ANNOUNCED (6 to 9), for a test to read. */
#include "accepting.h"

#ifndef ANNOUNCED
#define ANNOUNCED 9
#endif

#define HANDLED DDHAL_DRIVER_HANDLED
#define DX6_EXTENDED_BYTES 84u

static void copy(void *to, const void *from, size_t size)
{
    dp2_u8 *out = (dp2_u8 *)to;
    const dp2_u8 *in = (const dp2_u8 *)from;
    while (size--)
        *out++ = *in++;
}

static dp2_u32 unknown(DP2_NAME(DD_GETDRIVERINFODATA) *data)
{
    data->dwActualSize = 0;
    data->ddRVal = DDERR_CURRENTLYNOTAVAIL;
    return HANDLED;
}

static dp2_u32 answered(DP2_NAME(DD_GETDRIVERINFODATA) *data, const void *answer, size_t size)
{
    copy((void *)data->lpvData, answer, size < data->dwExpectedSize ? size : data->dwExpectedSize);
#if defined(BUG_ACTUAL_SIZE)
    data->dwActualSize = 8;
#elif defined(BUG_BEYOND)
    ((dp2_u8 *)data->lpvData)[data->dwExpectedSize] = 1;
    data->dwActualSize = (dp2_u32)size;
#else
    data->dwActualSize = (dp2_u32)size;
#endif
    data->ddRVal = D3D_OK;
    return HANDLED;
}

static int equal(const void *guid, const dp2_u8 *other)
{
    const dp2_u8 *one = (const dp2_u8 *)guid;
    int i;
    for (i = 0; i < 16; i++)
        if (one[i] != other[i])
            return 0;
    return 1;
}

#if ANNOUNCED >= 8
static const dp2_u32 formats[][2] = {
    {D3DFMT_X8R8G8B8, D3DFORMAT_OP_TEXTURE | D3DFORMAT_OP_OFFSCREEN_RENDERTARGET},
    {D3DFMT_R5G6B5, D3DFORMAT_OP_TEXTURE},
    {D3DFMT_D16, D3DFORMAT_OP_ZSTENCIL},
    {0x34343434, D3DFORMAT_OP_TEXTURE}
};
static const dp2_u32 queries[] = {D3DQUERYTYPE_EVENT, D3DQUERYTYPE_OCCLUSION};

static dp2_u32 format(DP2_NAME(DD_GETDRIVERINFODATA) *data)
{
    DP2_NAME(DD_GETFORMATDATA) answer;
    dp2_u32 index;
    copy(&answer, (void *)data->lpvData, sizeof(answer));
    index = answer.dwFormatIndex;
    if (index >= sizeof(formats) / sizeof(formats[0]))
        return unknown(data);
    answer.format.dwSize = sizeof(answer.format);
    answer.format.dwFlags = DDPF_D3DFORMAT;
    answer.format.dwFourCC = formats[index][0];
    answer.format.dwRBitMask = formats[index][1]; /* where dwOperations is */
    return answered(data, &answer, sizeof(answer));
}

static dp2_u32 counted(DP2_NAME(DD_GETDRIVERINFODATA) *data, dp2_u32 count)
{
    DP2_NAME(DD_GETFORMATCOUNTDATA) answer;
    size_t size = data->dwExpectedSize < sizeof(answer) ? data->dwExpectedSize : sizeof(answer);
    copy(&answer, (void *)data->lpvData, size);
#if defined(BUG_COUNT)
    count = 0xFFFFFFFFu;
#endif
    answer.dwFormatCount = count;
    return answered(data, &answer, size);
}

static dp2_u32 asked2(DP2_NAME(DD_GETDRIVERINFODATA) *data)
{
    static DP2_NAME(D3DCAPS8) caps8;
    static DP2_NAME(D3DCAPS9) caps9;
    DP2_NAME(DD_GETD3DQUERYDATA) query;
    DP2_NAME(DD_GETDDIVERSIONDATA) version;
    DP2_NAME(DD_GETDRIVERINFO2DATA) head;
    copy(&head, (void *)data->lpvData, sizeof(head));
    if (head.dwMagic != D3DGDI2_MAGIC || head.dwExpectedSize != data->dwExpectedSize)
        return unknown(data);
    switch (head.dwType) {
    case D3DGDI2_TYPE_GETD3DCAPS8:
        caps8.SrcBlendCaps = D3DPBLENDCAPS_ONE;
        caps8.MaxTextureWidth = 2048;
        return answered(data, &caps8, sizeof(caps8));
    case D3DGDI2_TYPE_GETFORMATCOUNT:
        return counted(data, sizeof(formats) / sizeof(formats[0]));
    case D3DGDI2_TYPE_GETFORMAT:
        return format(data);
#if ANNOUNCED >= 9
    case D3DGDI2_TYPE_GETD3DCAPS9:
        caps9.SrcBlendCaps = D3DPBLENDCAPS_ONE | D3DPBLENDCAPS_SRCALPHA;
        caps9.PS20Caps.NumInstructionSlots = 512;
        caps9.MaxPointSize = 64;
        return answered(data, &caps9, sizeof(caps9));
    case D3DGDI2_TYPE_GETD3DQUERYCOUNT:
        return counted(data, sizeof(queries) / sizeof(queries[0]));
    case D3DGDI2_TYPE_GETD3DQUERY:
        copy(&query, (void *)data->lpvData, sizeof(query));
        if (query.QueryType >= sizeof(queries) / sizeof(queries[0]))
            return unknown(data);
        query.QueryType = queries[query.QueryType];
        return answered(data, &query, sizeof(query));
    case D3DGDI2_TYPE_GETDDIVERSION:
        copy(&version, (void *)data->lpvData, sizeof(version));
        version.dwDDIVersion = 4;
        return answered(data, &version, sizeof(version));
#endif
    default:
        (void)caps9;
        (void)queries;
        (void)query;
        (void)version;
        return unknown(data);
    }
}
#endif

static dp2_u32 global_data(DP2_NAME(DD_GETDRIVERINFODATA) *data)
{
    static DP2_NAME(DDSURFACEDESC) textures[2];
    static DP2_NAME(D3DHAL_GLOBALDRIVERDATA) answer;
    textures[0].ddpfPixelFormat.dwFlags = 0x41; /* DDPF_RGB, DDPF_ALPHAPIXELS */
    textures[0].ddpfPixelFormat.dwRGBBitCount = 16;
    textures[0].ddpfPixelFormat.dwRBitMask = 0x0F00;
    textures[0].ddpfPixelFormat.dwGBitMask = 0x00F0;
    textures[0].ddpfPixelFormat.dwBBitMask = 0x000F;
    textures[0].ddpfPixelFormat.dwRGBAlphaBitMask = 0xF000;
    textures[1].ddpfPixelFormat.dwFlags = 0x8; /* DDPF_PALETTEINDEXED4, no D3DFORMAT */
    answer.dwSize = sizeof(answer);
    answer.hwCaps.dpcTriCaps.dwSrcBlendCaps = D3DPBLENDCAPS_ONE;
    answer.hwCaps.dwDeviceRenderBitDepth = DDBD_16;
    answer.dwNumTextureFormats = 2;
    answer.lpTextureFormats = (dp2_uptr)textures;
#if defined(BUG_COUNT)
    answer.dwNumTextureFormats = 0x40000000u;
    answer.lpTextureFormats = 0;
#endif
    return answered(data, &answer, sizeof(answer));
}

static dp2_u32 extended(DP2_NAME(DD_GETDRIVERINFODATA) *data)
{
    static DP2_NAME(D3DHAL_D3DEXTENDEDCAPS) answer;
    answer.dwTextureOpCaps = D3DTEXOPCAPS_MODULATE;
    answer.dwMaxActiveLights = 8;
    answer.dwSize = ANNOUNCED >= 7 ? sizeof(answer) : DX6_EXTENDED_BYTES;
    return answered(data, &answer, answer.dwSize);
}

static dp2_u32 depths(DP2_NAME(DD_GETDRIVERINFODATA) *data)
{
    static struct {
        dp2_u32 count;
        DP2_NAME(DDPIXELFORMAT) formats[1];
    } answer;
    answer.count = 1;
    answer.formats[0].dwFlags = 0x400; /* DDPF_ZBUFFER */
    answer.formats[0].dwRGBBitCount = 16;
    answer.formats[0].dwGBitMask = 0xFFFF;
    return answered(data, &answer, sizeof(answer));
}

dp2_u32 DdGetDriverInfo(DP2_NAME(DD_GETDRIVERINFODATA) *data)
{
    static const dp2_u8 info2[] = GUID_GETDRIVERINFO2_BYTES, d3dcaps[] = GUID_D3DCAPS_BYTES,
        more[] = GUID_D3DEXTENDEDCAPS_BYTES, z[] = GUID_ZPIXELFORMATS_BYTES;
#if ANNOUNCED >= 8
    if (equal(&data->guidInfo, info2) && data->dwExpectedSize >= 16)
        return asked2(data);
#endif
    (void)info2;
    if (equal(&data->guidInfo, d3dcaps))
        return global_data(data);
    if (equal(&data->guidInfo, more))
        return extended(data);
    if (equal(&data->guidInfo, z))
        return depths(data);
    return unknown(data);
}
