"""The fixed-function tessellator of Direct3D 11, and the patch domains of Direct3D 8 and 9."""
