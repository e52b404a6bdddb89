/* State of the sample driver: what tokens set, and state blocks. */
#include "sample.h"

static void stream(context *of, dp2_u32 number, dp2_u32 handle, dp2_u32 offset, dp2_u32 stride)
{
    source found = sample_surface(handle);
#ifdef BUG_STREAM_NUMBER
    number = 0;
#endif
    if (number >= STREAMS)
        return;
    of->streams[number] = found;
    of->streams[number].stride = stride;
#ifdef BUG_STREAM_OFFSET
    offset = 0;
#endif
    if (offset <= found.size) {
        of->streams[number].bytes += offset;
        of->streams[number].size -= offset;
    }
}

static void indices(context *of, dp2_u32 handle, dp2_u32 stride)
{
#ifdef BUG_STALE_INDICES
    if (!handle)
        return;
#endif
    of->indices = sample_surface(handle);
    of->indices.stride = stride;
}

#define FAR 0x10000  /* pixels, where no target reaches */

static void rectangle(dp2_i32 *to, const dp2_u8 *at, int sized)
{
    int i;
    for (i = 0; i < 4; i++) {
        dp2_i64 side = (dp2_i32)DP2_U32(at + 4 * i);
        if (sized && i > 1)
            side = (dp2_i64)DP2_U32(at + 4 * i) + to[i - 2];
        to[i] = (dp2_i32)(side < -FAR ? -FAR : side > FAR ? FAR : side);
    }
}

/* State blocks, of render states alone */

static block *block_of(context *of, dp2_u32 handle)
{
    int i;
    for (i = 0; i < BLOCKS; i++)
        if (of->blocks[i].handle == handle)
            return &of->blocks[i];
    return NULL;
}

static void begin_block(context *of, dp2_u32 handle)
{
    block *begun = block_of(of, handle);
    if (!begun)
        begun = block_of(of, 0);
    if (!begun)
        return;
    dp2stub_clear(begun, sizeof(*begun));
    begun->handle = handle;
    of->recording = begun;
}

static void apply_block(context *of, block *known, int capture)
{
    int i;
    for (i = 0; known && i < STATES; i++)
        if (known->has[i] && capture)
            known->states[i] = of->states[i];
        else if (known->has[i])
            of->states[i] = known->states[i];
}

static void state_set(context *of, dp2_u32 operation, dp2_u32 handle)
{
    switch (operation) {
    case 0:
        begin_block(of, handle);
        break;
    case 1:
        of->recording = NULL;
        break;
    case 2:
        if (block_of(of, handle))
            block_of(of, handle)->handle = 0;
        break;
    case 3:
#ifndef BUG_EXECUTE_IGNORED
        apply_block(of, block_of(of, handle), 0);
#endif
        break;
    case 4:
#ifndef BUG_CAPTURE_IGNORED
        apply_block(of, block_of(of, handle), 1);
#endif
        break;
    default:
        break;
    }
}

static void render_state(context *of, dp2_u32 number, dp2_u32 value)
{
    if (number >= STATES)
        return;
    if (of->recording) {
        of->recording->has[number] = 1;
        of->recording->states[number] = value;
#ifndef BUG_RECORDS_AND_SETS
        return;
#endif
    }
    of->states[number] = value;
}

/* Of stage 0 alone; a block records none. */
static void stage_state(context *of, dp2_u32 stage, dp2_u32 number, dp2_u32 value)
{
    if (stage == 0 && number < STAGE_STATES && !of->recording)
        of->stage[number] = value;
}

/* One item of a token that sets something; others are passed over. */
static void state(call *made, dp2_u32 opcode, const dp2_u8 *at)
{
    context *of = made->context;
    switch (opcode) {
    case D3DDP2OP_RENDERSTATE:
        render_state(of, DP2_U32(at), DP2_U32(at + 4));
        break;
    case D3DDP2OP_TEXTURESTAGESTATE:
        stage_state(of, DP2_U16(at), DP2_U16(at + 2), DP2_U32(at + 4));
        break;
    case D3DDP2OP_STATESET:
        state_set(of, DP2_U32(at), DP2_U32(at + 4));
        break;
    case D3DDP2OP_VIEWPORTINFO:
#ifdef BUG_VIEWPORT_SIDES
        rectangle(of->viewport, at, 0);
#else
        rectangle(of->viewport, at, 1);
#endif
        break;
    case D3DDP2OP_SETSCISSORRECT:
#ifdef BUG_SCISSOR_SIZED
        rectangle(of->scissor, at, 1);
#else
        rectangle(of->scissor, at, 0);
#endif
        break;
    case D3DDP2OP_SETVERTEXSHADER:
        of->format = DP2_U32(at);
        break;
    case D3DDP2OP_SETSTREAMSOURCE:
        stream(of, DP2_U32(at), DP2_U32(at + 4), 0, DP2_U32(at + 8));
        break;
    case D3DDP2OP_SETSTREAMSOURCE2:
        stream(of, DP2_U32(at), DP2_U32(at + 4), DP2_U32(at + 8), DP2_U32(at + 12));
        break;
    case D3DDP2OP_SETINDICES:
        indices(of, DP2_U32(at), DP2_U32(at + 4));
        break;
    case D3DDP2OP_SETRENDERTARGET:
        sample_target(of, DP2_U32(at), DP2_U32(at + 4));
        break;
    default:
        break;
    }
}

/* The items of a token that sets something. */
void sample_set(call *made, dp2_u32 opcode, dp2_u32 n, const dp2_u8 *at)
{
    const dp2_token *row = dp2_token_of(opcode);
    dp2_u32 i;
    if (opcode == D3DDP2OP_SETRENDERTARGET)
        n = 1;
#ifdef BUG_FIRST_STATE
    if (opcode == D3DDP2OP_RENDERSTATE && n)
        n = 1;
#endif
    for (i = 0; row->kind == DP2_LINEAR && i < n && row->each + row->base > 0; i++)
        state(made, opcode, at + i * (dp2_u32)row->each);
}
