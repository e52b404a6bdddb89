"""Draws and dispatches of the Direct3D 10 and 11 DDI as packets."""
