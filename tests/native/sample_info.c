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
#define TEXTURE_OPS \
    (D3DTEXOPCAPS_DISABLE | D3DTEXOPCAPS_SELECTARG1 | D3DTEXOPCAPS_SELECTARG2 | \
     D3DTEXOPCAPS_MODULATE | D3DTEXOPCAPS_MODULATE2X | D3DTEXOPCAPS_MODULATE4X | \
     D3DTEXOPCAPS_ADD | D3DTEXOPCAPS_SUBTRACT | D3DTEXOPCAPS_ADDSMOOTH | MORE_OPS)
#define ADDRESSES \
    (D3DPTADDRESSCAPS_WRAP | D3DPTADDRESSCAPS_MIRROR | D3DPTADDRESSCAPS_CLAMP | \
     D3DPTADDRESSCAPS_BORDER)
#define FILTERS (D3DPTFILTERCAPS_MINFPOINT | D3DPTFILTERCAPS_MAGFPOINT)
#define LARGEST 2048u  /* texels of a side */
#define BAND 2048.0f  /* pixels of a guard band to each side */
#ifdef BUG_ANNOUNCES_MORE
#define MORE_OPS (D3DTEXOPCAPS_BUMPENVMAP | D3DTEXOPCAPS_BUMPENVMAPLUMINANCE)
#define STAGES 2
#define STENCILS (D3DSTENCILCAPS_KEEP | D3DSTENCILCAPS_REPLACE)
#else
#define MORE_OPS 0u
#define STAGES 1
#define STENCILS 0u
#endif

#define SAMPLED D3DFORMAT_OP_TEXTURE
#define DRAWN D3DFORMAT_OP_OFFSCREEN_RENDERTARGET
#define BUMPED (D3DFORMAT_OP_TEXTURE | D3DFORMAT_OP_BUMPMAP)
#define DEPTH (D3DFORMAT_OP_ZSTENCIL | D3DFORMAT_OP_ZSTENCIL_WITH_ARBITRARY_COLOR_DEPTH)
/* DDPF_RGB, DDPF_ALPHAPIXELS, DDPF_ALPHA, DDPF_LUMINANCE, DDPF_ZBUFFER, and of the rest. */
#define RGB 0x40u
#define RGBA 0x41u
#define ALPHA 0x2u
#define LUMINANCE 0x20000u
#define ZBUFFER 0x400u
#define STENCIL 0x4400u
#define FOURCC 0x4u
#define INDEXED 0x60u
#define BUMP 0x80000u

/* Each format by its D3DFORMAT and operations, and as the members of a DDPIXELFORMAT. */
typedef struct pixels {
    dp2_u32 number, operations, flags, fourcc, bits, masks[4];
} pixels;

static const pixels formats[] = {
    {D3DFMT_A8R8G8B8, SAMPLED | DRAWN, RGBA, 0, 32, {0xff0000, 0xff00, 0xff, 0xff000000u}},
    {D3DFMT_X8R8G8B8, SAMPLED | DRAWN, RGB, 0, 32, {0xff0000, 0xff00, 0xff, 0}},
    {D3DFMT_R5G6B5, SAMPLED, RGB, 0, 16, {0xf800, 0x7e0, 0x1f, 0}},
    {D3DFMT_X1R5G5B5, SAMPLED, RGB, 0, 16, {0x7c00, 0x3e0, 0x1f, 0}},
    {D3DFMT_A1R5G5B5, SAMPLED, RGBA, 0, 16, {0x7c00, 0x3e0, 0x1f, 0x8000}},
    {D3DFMT_A4R4G4B4, SAMPLED, RGBA, 0, 16, {0xf00, 0xf0, 0xf, 0xf000}},
    {D3DFMT_L8, SAMPLED, LUMINANCE, 0, 8, {0xff, 0, 0, 0}},
    {D3DFMT_A8, SAMPLED, ALPHA, 0, 8, {0, 0, 0, 0}},
#ifdef BUG_ANNOUNCES_MORE
    {D3DFMT_R3G3B2, DRAWN, RGB, 0, 8, {0xe0, 0x1c, 0x3, 0}},
    {D3DFMT_DXT1, SAMPLED, FOURCC, D3DFMT_DXT1, 0, {0, 0, 0, 0}},
    {D3DFMT_P8, SAMPLED, INDEXED, 0, 8, {0, 0, 0, 0}},
    {D3DFMT_V8U8, BUMPED, BUMP, 0, 16, {0xff, 0xff00, 0, 0}},
    {D3DFMT_D24S8, DEPTH, STENCIL, 0, 32, {8, 0xffffff00u, 0xff, 0}},
#endif
    {D3DFMT_D16, DEPTH, ZBUFFER, 0, 16, {0, 0xffff, 0, 0}}
};
#define FORMATS (sizeof(formats) / sizeof(*formats))

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

#define EXTENDED6 84u  /* bytes of D3DHAL_D3DEXTENDEDCAPS in DirectX 6 */

static void describe(DDPIXELFORMAT *to, const pixels *from)
{
    to->dwSize = sizeof(*to);
    to->dwFlags = from->flags;
    to->dwFourCC = from->fourcc;
    to->dwRGBBitCount = from->bits;
    to->dwRBitMask = from->masks[0];
    to->dwGBitMask = from->masks[1];
    to->dwBBitMask = from->masks[2];
    to->dwRGBAlphaBitMask = from->masks[3];
}

static dp2_u32 device(DD_GETDRIVERINFODATA *data)
{
    static D3DHAL_GLOBALDRIVERDATA all;
    static DDSURFACEDESC textures[FORMATS];
    size_t i;
    all.dwSize = sizeof(all);
    all.hwCaps.dwDeviceRenderBitDepth = DDBD_32;
#ifdef BUG_ANNOUNCES_MORE
    all.hwCaps.dwDeviceRenderBitDepth |= DDBD_16;
#endif
    all.hwCaps.dwDeviceZBufferBitDepth = DDBD_16;
    all.hwCaps.dpcTriCaps.dwMiscCaps = CULLING;
    all.hwCaps.dpcTriCaps.dwZCmpCaps = COMPARES;
    all.hwCaps.dpcTriCaps.dwSrcBlendCaps = FACTORS;
    all.hwCaps.dpcTriCaps.dwDestBlendCaps = FACTORS;
    all.hwCaps.dpcTriCaps.dwAlphaCmpCaps = COMPARES;
    all.hwCaps.dpcTriCaps.dwShadeCaps = SHADES;
    all.hwCaps.dpcTriCaps.dwTextureFilterCaps = FILTERS;
    all.hwCaps.dpcTriCaps.dwTextureAddressCaps = ADDRESSES;
    all.lpTextureFormats = (dp2_uptr)textures;
    all.dwNumTextureFormats = 0;
    for (i = 0; i < FORMATS; i++)
        if (formats[i].operations & SAMPLED)
            describe(&textures[all.dwNumTextureFormats++].ddpfPixelFormat, &formats[i]);
    return told(data, &all, sizeof(all));
}

static dp2_u32 extended(DD_GETDRIVERINFODATA *data)
{
    static D3DHAL_D3DEXTENDEDCAPS all;
    all.dwSize = SAMPLE_DDI > 6 ? sizeof(all) : EXTENDED6;
    all.dwMinTextureWidth = all.dwMinTextureHeight = 1;
    all.dwMaxTextureWidth = all.dwMaxTextureHeight = LARGEST;
    all.dvGuardBandLeft = all.dvGuardBandTop = -BAND;
    all.dvGuardBandRight = all.dvGuardBandBottom = BAND;
    all.dwStencilCaps = STENCILS;
    all.dwTextureOpCaps = TEXTURE_OPS;
    all.wMaxTextureBlendStages = all.wMaxSimultaneousTextures = STAGES;
    return told(data, &all, all.dwSize);
}

static dp2_u32 depths(DD_GETDRIVERINFODATA *data)
{
    static struct {
        dp2_u32 count;
        DDPIXELFORMAT formats[FORMATS];
    } all;
    size_t i;
    all.count = 0;
    for (i = 0; i < FORMATS; i++)
        if (formats[i].operations & D3DFORMAT_OP_ZSTENCIL)
            describe(&all.formats[all.count++], &formats[i]);
    return told(data, &all, sizeof(all.count) + all.count * sizeof(all.formats[0]));
}

dp2_u32 DP2_ENTRY DdGetDriverInfo(DD_GETDRIVERINFODATA *data)
{
    static const dp2_u8 known[] = GUID_D3DCAPS_BYTES, more[] = GUID_D3DEXTENDEDCAPS_BYTES,
        z[] = GUID_ZPIXELFORMATS_BYTES;
    if (is(data, known))
        return device(data);
    if (is(data, more))
        return extended(data);
    return is(data, z) ? depths(data) : unknown(data);
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
    all.AlphaCmpCaps = all.ZCmpCaps = COMPARES;
    all.ShadeCaps = SHADES;
    all.TextureOpCaps = TEXTURE_OPS;
    all.TextureAddressCaps = ADDRESSES;
    all.TextureFilterCaps = FILTERS;
    all.GuardBandLeft = all.GuardBandTop = -BAND;
    all.GuardBandRight = all.GuardBandBottom = BAND;
    all.StencilCaps = STENCILS;
    all.MaxTextureWidth = all.MaxTextureHeight = LARGEST;
    all.MaxTextureBlendStages = all.MaxSimultaneousTextures = STAGES;
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
    DD_GETFORMATDATA answer;
    dp2stub_copy(&answer, (void *)data->lpvData, sizeof(answer));
    if (answer.dwFormatIndex >= FORMATS)
        return unknown(data);
    answer.format.dwSize = sizeof(answer.format);
    answer.format.dwFlags = DDPF_D3DFORMAT;
    answer.format.dwFourCC = formats[answer.dwFormatIndex].number;
    answer.format.dwRBitMask = formats[answer.dwFormatIndex].operations;  /* dwOperations */
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
        return number(data, FORMATS);
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
