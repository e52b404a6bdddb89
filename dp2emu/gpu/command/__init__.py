"""Packets, and the records they carry: state, bindings, stages, queries."""
