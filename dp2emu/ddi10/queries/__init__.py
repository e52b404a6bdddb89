"""Queries, counters and predication of the Direct3D 10 and 11 DDI."""
