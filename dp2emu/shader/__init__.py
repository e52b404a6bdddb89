"""The shader intermediate representation, its engines, and the front ends that produce it."""
