"""Scenes whose results another implementation of Direct3D 9 gave: see README.rst here."""
