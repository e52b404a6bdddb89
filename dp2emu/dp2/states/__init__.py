"""Raw DirectX 6 to 9 state, as tokens set it."""
