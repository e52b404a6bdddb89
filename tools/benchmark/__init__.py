"""The parts of ``tools/bench.py``: the workloads, who draws them, and what is told of it."""
