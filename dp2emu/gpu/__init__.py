"""The emulated GPU: packets in, reports and memory out, on a virtual clock."""
