"""Supervised child processes, the one mechanism of batches, fuzzing campaigns and served rigs.

``child`` supervises a process: its pipes, a deadline, its exit code.  ``forking`` starts workers
through a fork server, ``fork_server`` is that server, and ``worker`` is what workers share.
"""
