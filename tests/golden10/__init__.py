"""Scenes whose results another implementation of Direct3D 10 and 11 gave: see README.rst here."""
