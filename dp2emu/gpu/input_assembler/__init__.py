"""The input assembler: index and instance handling, vertex fetch, indirect arguments."""
