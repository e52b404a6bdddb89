"""Shaders of the Direct3D 10 and 11 DDI and the resources of their stages."""
