"""The pixel stage: interpolated inputs, the program, its outputs."""
