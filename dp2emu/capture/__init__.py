"""Capture files: what a driver was called with, and what it answered."""
