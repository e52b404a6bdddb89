"""The compiling engine: programs as machine code, bit for bit what the reference engine computes.

``bodies`` writes a program as LLVM text, without LLVM; ``compiling`` makes an object of it, which
``store`` keeps for other processes; ``code`` has the functions in memory; ``engine`` runs them.
"""
