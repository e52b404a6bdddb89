"""The rasterizer: clipping, set-up of primitives, coverage and interpolation."""
