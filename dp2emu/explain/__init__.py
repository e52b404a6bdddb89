"""Explanations: the events of a capture, and what led to a pixel, an answer or a byte."""
