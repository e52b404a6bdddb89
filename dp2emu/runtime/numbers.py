"""Numbers that sessions on one rig must not share."""

from __future__ import annotations


class Numbers:
    """The last handle, context and frame that were given out.  Mutable: they count up."""

    def __init__(self) -> None:
        self.handle = 0
        self.context = 0
        self.frame = 0

    def next_context(self) -> int:
        """A context number nobody has."""
        self.context += 1
        return self.context
