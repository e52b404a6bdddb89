"""Transfers between resources: clear, copy, blit, compose, resolve."""
