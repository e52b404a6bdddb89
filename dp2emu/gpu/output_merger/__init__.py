"""The output merger: alpha, depth and stencil tests, and what targets store."""
