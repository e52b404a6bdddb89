"""The output merger: alpha, depth and stencil tests, blending, and writes to targets."""
