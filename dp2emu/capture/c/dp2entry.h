/*
 * dp2entry.h: the names of the driver's entry points that dp2stub.c and dp2play.h call.
 *
 * D3dDrawPrimitives2 is a must.  Define DP2PLAY_NO_CREATE for a driver without D3dContextCreate
 * and D3dContextDestroy, DP2PLAY_NO_SURFACE for one without D3dCreateSurfaceEx, and for each
 * function of DirectDraw that the driver has: DP2STUB_HAS_FLIP (DdFlip), DP2STUB_HAS_BLT (DdBlt),
 * DP2STUB_HAS_SETCOLORKEY (DdSetColorKey), DP2STUB_HAS_CREATESURFACE (DdCreateSurface),
 * DP2STUB_HAS_DESTROYSURFACE (DdDestroySurface), DP2STUB_HAS_LOCK (DdLock), DP2STUB_HAS_UNLOCK
 * (DdUnlock), DP2STUB_HAS_GETDRIVERINFO (DdGetDriverInfo).  Drivers for Windows 9x from before
 * DirectX 7 define DP2PLAY_NO_SURFACE, and DP2STUB_HAS_TEXTURECREATE if they have D3dTextureCreate
 * and D3dTextureDestroy.
 */
#ifndef DP2ENTRY_H
#define DP2ENTRY_H

#include "dp2stub.h"

#ifdef __cplusplus
extern "C" {
#endif
dp2_u32 DP2_ENTRY D3dDrawPrimitives2(DP2_NAME(D3DHAL_DRAWPRIMITIVES2DATA) *data);
#if !defined(DP2PLAY_NO_CREATE)
dp2_u32 DP2_ENTRY D3dContextCreate(DP2_NAME(D3DHAL_CONTEXTCREATEDATA) *data);
dp2_u32 DP2_ENTRY D3dContextDestroy(DP2_NAME(D3DHAL_CONTEXTDESTROYDATA) *data);
#endif
#if !defined(DP2PLAY_NO_SURFACE)
dp2_u32 DP2_ENTRY D3dCreateSurfaceEx(DP2_NAME(DD_CREATESURFACEEXDATA) *data);
#endif
#if defined(DP2STUB_HAS_FLIP)
dp2_u32 DP2_ENTRY DdFlip(DP2_NAME(DD_FLIPDATA) *data);
#endif
#if defined(DP2STUB_HAS_BLT)
dp2_u32 DP2_ENTRY DdBlt(DP2_NAME(DD_BLTDATA) *data);
#endif
#if defined(DP2STUB_HAS_SETCOLORKEY)
dp2_u32 DP2_ENTRY DdSetColorKey(DP2_NAME(DD_DRVSETCOLORKEYDATA) *data);
#endif
#if defined(DP2STUB_HAS_CREATESURFACE)
dp2_u32 DP2_ENTRY DdCreateSurface(DP2_NAME(DD_CREATESURFACEDATA) *data);
#endif
#if defined(DP2STUB_HAS_DESTROYSURFACE)
dp2_u32 DP2_ENTRY DdDestroySurface(DP2_NAME(DD_DESTROYSURFACEDATA) *data);
#endif
#if defined(DP2STUB_HAS_LOCK)
dp2_u32 DP2_ENTRY DdLock(DP2_NAME(DD_LOCKDATA) *data);
#endif
#if defined(DP2STUB_HAS_UNLOCK)
dp2_u32 DP2_ENTRY DdUnlock(DP2_NAME(DD_UNLOCKDATA) *data);
#endif
#if defined(DP2STUB_HAS_GETDRIVERINFO)
dp2_u32 DP2_ENTRY DdGetDriverInfo(DP2_NAME(DD_GETDRIVERINFODATA) *data);
#endif
#if defined(DP2STUB_HAS_TEXTURECREATE)
dp2_u32 DP2_ENTRY D3dTextureCreate(DP2_NAME(D3DHAL_TEXTURECREATEDATA) *data);
dp2_u32 DP2_ENTRY D3dTextureDestroy(DP2_NAME(D3DHAL_TEXTUREDESTROYDATA) *data);
#endif
#ifdef __cplusplus
}
#endif

DP2_FUNCTION void dp2stub_enter(dp2stub_driver *driver)
{
    driver->draw = D3dDrawPrimitives2;
#if !defined(DP2PLAY_NO_CREATE)
    driver->create = D3dContextCreate;
    driver->destroy = D3dContextDestroy;
#endif
#if !defined(DP2PLAY_NO_SURFACE)
    driver->surface = D3dCreateSurfaceEx;
#endif
#if defined(DP2STUB_HAS_FLIP)
    driver->flip = DdFlip;
#endif
#if defined(DP2STUB_HAS_BLT)
    driver->blit = DdBlt;
#endif
#if defined(DP2STUB_HAS_SETCOLORKEY)
    driver->key = DdSetColorKey;
#endif
#if defined(DP2STUB_HAS_CREATESURFACE)
    driver->place = DdCreateSurface;
#endif
#if defined(DP2STUB_HAS_DESTROYSURFACE)
    driver->remove = DdDestroySurface;
#endif
#if defined(DP2STUB_HAS_LOCK)
    driver->lock = DdLock;
#endif
#if defined(DP2STUB_HAS_UNLOCK)
    driver->unlock = DdUnlock;
#endif
#if defined(DP2STUB_HAS_GETDRIVERINFO)
    driver->info = DdGetDriverInfo;
#endif
#if defined(DP2STUB_HAS_TEXTURECREATE)
    driver->texture = D3dTextureCreate;
    driver->untexture = D3dTextureDestroy;
#endif
}

#endif
