/* Entry points of a driver that accepts every call, surface and context of a process, and does
 * nothing. */
#include "dp2.h"

dp2_u32 D3dDrawPrimitives2(DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data)
{
    data->dwErrorOffset = 0;
    data->dwVertexSize = 0; /* where ddrval is */
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 D3dContextCreate(DP2_NAME(D3DHAL_CONTEXTCREATEDATA) *data)
{
    data->ddrval = data->dwrstates ? 0 : D3DHAL_OUTOFCONTEXTS; /* dwPID */
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 D3dContextDestroy(DP2_NAME(D3DHAL_CONTEXTDESTROYDATA) *data)
{
    data->ddrval = 0;
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 D3dCreateSurfaceEx(DP2_NAME(DD_CREATESURFACEEXDATA) *data)
{
    data->ddRVal = 0;
    return DDHAL_DRIVER_HANDLED;
}
