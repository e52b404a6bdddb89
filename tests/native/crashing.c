/*
 * A driver with one mistake: it stores to address 0x40 when it meets a CLEAR.  It does nothing else.
 */
#include "sample.h"

dp2_u32 DP2_ENTRY D3dCreateSurfaceEx(DD_CREATESURFACEEXDATA *data)
{
    data->ddRVal = D3D_OK;
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY D3dContextCreate(D3DHAL_CONTEXTCREATEDATA *data)
{
    data->ddrval = D3D_OK;
    data->dwhContext = 1;
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY D3dContextDestroy(D3DHAL_CONTEXTDESTROYDATA *data)
{
    data->ddrval = D3D_OK;
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY D3dDrawPrimitives2(D3DHAL_DRAWPRIMITIVES2DATA *data)
{
    const DD_SURFACE_LOCAL *local = (const DD_SURFACE_LOCAL *)data->lpDDCommands;
    const DD_SURFACE_GLOBAL *global = (const DD_SURFACE_GLOBAL *)local->lpGbl;
    const dp2_u8 *bytes = (const dp2_u8 *)global->fpVidMem + data->dwCommandOffset;
    dp2_u32 at;
    for (at = 0; at + 4 <= data->dwCommandLength; at += 4)
        if (bytes[at] == D3DDP2OP_CLEAR && bytes[at + 1] == 0 && bytes[at + 2] == 1)
            *(volatile dp2_u8 *)(dp2_uptr)0x40 = 1;
    data->dwVertexSize = D3D_OK;
    data->dwErrorOffset = 0;
    return DDHAL_DRIVER_HANDLED;
}
