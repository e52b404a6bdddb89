"""The rasterizer: clipping, set-up, coverage and interpolation."""
