"""The output merger: alpha, depth and stencil tests, blending, masked writes."""
