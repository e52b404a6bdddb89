"""Explanation of captures: events, and what each did to vertices, pixels, memory and answers."""
