/* The half of the example of dp2ring.h that would be in kernel mode. */
#ifndef RING_DRIVER_H
#define RING_DRIVER_H

#include "dp2ring.h"

void driver_attach(dp2ring *ring);
void driver_begin(void);
void driver_clear(dp2log_u64 time, unsigned int color);

#endif
