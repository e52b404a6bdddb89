"""Resources that shaders read and write: textures, constants, unordered access."""
