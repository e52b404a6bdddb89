"""The compute shader: dispatches of thread groups."""
