"""State objects of the Direct3D 10 and 11 DDI, and what is bound."""
