/*
 * A driver that ends when it meets a CLEAR, in the way that its colour names, and does nothing else.
 */
#include <stdlib.h>

#include "sample.h"

enum way {
    NULL_POINTER,
    BEHIND_VERTICES,
    BEHIND_COMMANDS,
    FAR_BEHIND_TARGET,
    STACK_OVERFLOW,
    ABORT,
    EXIT,
    LOOP,
    DIVISION = 10,
    JUMP,
    BAD_FREE,
    BEFORE_COMMANDS
};

static const DD_SURFACE_GLOBAL *target;
static volatile dp2_u32 zero;

static const DD_SURFACE_GLOBAL *shared_of(dp2_uptr local)
{
    return (const DD_SURFACE_GLOBAL *)((const DD_SURFACE_LOCAL *)local)->lpGbl;
}

dp2_u32 DP2_ENTRY D3dCreateSurfaceEx(DD_CREATESURFACEEXDATA *data)
{
    data->ddRVal = D3D_OK;
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY D3dContextCreate(D3DHAL_CONTEXTCREATEDATA *data)
{
    target = data->lpDDSLcl ? shared_of(data->lpDDSLcl) : NULL;
    data->ddrval = D3D_OK;
    data->dwhContext = 1;
    return DDHAL_DRIVER_HANDLED;
}

dp2_u32 DP2_ENTRY D3dContextDestroy(D3DHAL_CONTEXTDESTROYDATA *data)
{
    data->ddrval = D3D_OK;
    return DDHAL_DRIVER_HANDLED;
}

static void touch(dp2_uptr address)
{
    *(volatile dp2_u8 *)address = 1;
}

/* Where the vertices of a call end, in memory of the user's or in a buffer. */
static dp2_uptr behind_vertices(const D3DHAL_DRAWPRIMITIVES2DATA *data)
{
    if (data->dwFlags & D3DHALDP2_USERMEMVERTICES)
        return data->lpDDVertex + (dp2_uptr)data->dwVertexLength * data->dwVertexSize;
    return shared_of(data->lpDDVertex)->fpVidMem + (dp2_uptr)shared_of(data->lpDDVertex)->lPitch;
}

static dp2_u32 recurse(volatile dp2_u8 *outer)
{
    volatile dp2_u8 inner[256];
    inner[0] = outer[0];
    return zero ? 0 : recurse(inner) + inner[0];
}

static void jump(dp2_uptr address)
{
    void (*nowhere)(void);
    dp2stub_copy(&nowhere, &address, sizeof(nowhere));
    nowhere();
}

static void bad_free(void)
{
    static dp2_u8 *volatile block;
    block = (dp2_u8 *)malloc(64);
    block += 16;
    free(block);
}

static void end(enum way way, const D3DHAL_DRAWPRIMITIVES2DATA *data)
{
    const DD_SURFACE_GLOBAL *commands = shared_of(data->lpDDCommands);
    static volatile dp2_u8 outermost[1];
    switch (way) {
    case BEHIND_VERTICES:
        touch(behind_vertices(data));
        break;
    case BEHIND_COMMANDS:
        touch(commands->fpVidMem + (dp2_uptr)commands->lPitch);
        break;
    case BEFORE_COMMANDS:
        touch(commands->fpVidMem - 2);
        break;
    case FAR_BEHIND_TARGET:
        touch(target->fpVidMem + (dp2_uptr)target->lPitch * target->wHeight + 50000);
        break;
    case STACK_OVERFLOW:
        zero = recurse(outermost);
        break;
    case ABORT:
        abort();
    case EXIT:
        exit(3);
    case LOOP:
        while (!zero)
            continue;
        break;
    case DIVISION:
        zero = 100 / zero;
        break;
    case JUMP:
        jump((dp2_uptr)0x12345678);
        break;
    case BAD_FREE:
        bad_free();
        break;
    default:
        touch((dp2_uptr)0x40);
    }
}

dp2_u32 DP2_ENTRY D3dDrawPrimitives2(D3DHAL_DRAWPRIMITIVES2DATA *data)
{
    const dp2_u8 *bytes = (const dp2_u8 *)shared_of(data->lpDDCommands)->fpVidMem +
                          data->dwCommandOffset;
    dp2_u32 at;
    for (at = 0; at + 4 <= data->dwCommandLength; at += 4)
        if (bytes[at] == D3DDP2OP_CLEAR && bytes[at + 1] == 0 && bytes[at + 2] == 1)
            end(at + 12 <= data->dwCommandLength ? (enum way)DP2_U32(bytes + at + 8) : NULL_POINTER,
                data);
    data->dwVertexSize = D3D_OK;
    data->dwErrorOffset = 0;
    return DDHAL_DRIVER_HANDLED;
}
