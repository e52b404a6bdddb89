"""Patches: hull and domain shaders, and the patches of Direct3D 8 and 9."""
