"""Reports: a capture explained on one HTML page, which needs no network."""
