"""The device: the packet queue, the virtual clock, timing models and usage."""
