"""What the Direct3D SDK and driver headers define: enumerations, formats, structures."""
