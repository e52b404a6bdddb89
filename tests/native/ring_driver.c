/* A driver that records what it gets in a ring.  It needs no C library and no floating point. */
#include "ring_driver.h"
#include "dp2.h"

#define TARGET 1
#define COMMANDS 2
#define X8R8G8B8 22
#define SIDE 4
#define CLEAR_BYTES 36

static dp2ring_writer recording;

/* `ring` is the memory that the driver shares with the program. */
void driver_attach(dp2ring *ring)
{
    dp2ring_open(&recording, ring);
}

/* What D3dCreateSurfaceEx and D3dContextCreate record. */
void driver_begin(void)
{
    static const dp2log_surface_desc target = {TARGET, 1, SIDE, SIDE, X8R8G8B8, 0, 1, 1};
    static const dp2log_surface_desc commands = {COMMANDS, 0, 64, 1, 0, 0, 1, 0};
    dp2log_surface_created(&recording.log, 0, &target);
    dp2log_surface_created(&recording.log, 0, &commands);
    dp2log_context_created(&recording.log, 0, 1, 9, TARGET, 0);
}

/* What D3dDrawPrimitives2 records, here of a call that clears the target. */
void driver_clear(dp2log_u64 time, unsigned int color)
{
    static const dp2_u8 one[4] = {0x00, 0x00, 0x80, 0x3f}; /* 1.0, a depth */
    D3DHAL_DRAWPRIMITIVES2DATA data;
    dp2_u8 clear[CLEAR_BYTES];
    dp2_u8 *at = (dp2_u8 *)&data;
    size_t i;
    for (i = 0; i < sizeof(data); i++)
        at[i] = 0;
    for (i = 0; i < sizeof(clear); i++)
        clear[i] = 0;
    dp2log_put32(clear, D3DDP2OP_CLEAR | 1u << 16);
    dp2log_put32(clear + 4, 1); /* D3DCLEAR_TARGET */
    dp2log_put32(clear + 8, color);
    for (i = 0; i < sizeof(one); i++)
        clear[12 + i] = one[i];
    dp2log_put32(dp2log_put32(clear + 28, SIDE), SIDE);
    data.dwhContext = 1;
    data.lpDDCommands = COMMANDS;
    data.dwCommandLength = sizeof(clear);
    dp2log_call(&recording.log, time, &data, clear, sizeof(clear), NULL, 0);
    /* The driver executes the call here. */
    dp2log_answer(&recording.log, time + 1, D3D_OK, 0, 0, NULL, 0);
}
