"""Sampler programs: texture sampling as programs generated from sampler and texture state."""
