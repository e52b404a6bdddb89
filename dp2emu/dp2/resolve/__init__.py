"""Raw DirectX 6 to 9 state resolved to the frozen records that draws carry."""
