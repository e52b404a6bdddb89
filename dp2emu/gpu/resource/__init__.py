"""Resources: the heap, its subresources and views, and the formats of their bytes."""
