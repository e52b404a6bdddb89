"""A draw from packet to targets: set-up, stages, batches of small draws."""
