"""The geometry shader and stream output."""
