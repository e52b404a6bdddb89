"""Programs over 32-bit lanes: the operations, the statements, and the engine that defines them."""
