"""The fixed-function pipeline as generated programs, keyed by frozen records."""
