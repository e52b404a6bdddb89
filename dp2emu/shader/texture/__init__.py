"""Samplers: programs that read textures, generated for the state that decides how."""
