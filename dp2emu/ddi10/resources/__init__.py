"""Resources of the Direct3D 10 and 11 DDI: creation, views, maps, transfers, residency."""
