/* How the sample driver keeps a raw driver log, in the file that SAMPLE_LOG names. */

static dp2log the_log;
static dp2log_u64 ticks;

static int to_file(void *to, const void *data, size_t size)
{
    return fwrite(data, 1, size, (FILE *)to) == size && fflush((FILE *)to) == 0;
}

static void log_open(void)
{
    if (!the_log.to)
        dp2log_begin(&the_log, to_file, fopen(SAMPLE_LOG, "wb"));
    ticks++;
}

static void log_surface(const DD_CREATESURFACEEXDATA *data)
{
    dp2_uptr local = data->lpDDSLcl;
    dp2log_surface_desc desc;
    desc.handle = surface_handle(local);
    desc.kind = surface_pixels(local) == NO_PIXELS ? 0 : 1;
    desc.width = surface_width(local);
    desc.height = surface_height(local);
    desc.format = desc.kind ? 21 : 0;  /* the tests' targets are A8R8G8B8 */
    desc.pitch = 0;
    desc.samples = 1;
    desc.usage = 0;
    log_open();
    if (surface_bytes(local))
        dp2log_surface_created(&the_log, ticks, &desc);
    else
        dp2log_surface_destroyed(&the_log, ticks, desc.handle);
}

static void log_context(const D3DHAL_CONTEXTCREATEDATA *data)
{
    log_open();
    dp2log_context_created(&the_log, ticks, data->dwhContext, 9,
                           data->lpDDSLcl ? surface_handle(data->lpDDSLcl) : 0, 0);
}

static dp2_u32 log_handle(dp2_uptr local)
{
    return local ? surface_handle(local) : 0;
}

static void log_call(const D3DHAL_DRAWPRIMITIVES2DATA *data)
{
    D3DHAL_DRAWPRIMITIVES2DATA copy = *data;
    const dp2_u8 *commands = data->lpDDCommands ? memory_of(data->lpDDCommands).bytes : NULL;
    int user = data->dwFlags & D3DHALDP2_USERMEMVERTICES;
    const void *vertices = user ? (const void *)data->lpDDVertex : NULL;
    copy.lpDDCommands = log_handle(data->lpDDCommands);
    copy.lpDDVertex = user ? 0 : log_handle(data->lpDDVertex);
    copy.lpdwRStates = 0;
    log_open();
    dp2log_call(&the_log, ticks, &copy, commands ? commands + data->dwCommandOffset : NULL,
                data->dwCommandLength, vertices,
                (size_t)data->dwVertexLength * data->dwVertexSize);
}

static void log_answer(const D3DHAL_DRAWPRIMITIVES2DATA *data)
{
    size_t written = data->dwVertexSize == D3D_OK ? data->dwErrorOffset : 0;
    log_open();
    dp2log_answer(&the_log, ticks, data->dwVertexSize, data->dwErrorOffset, data->dwFlags,
                  written ? memory_of(data->lpDDCommands).bytes : NULL, written);
}
