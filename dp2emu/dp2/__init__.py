"""The DirectX 6 to 9 front end: the DrawPrimitives2 byte stream and its responses."""
