"""The Direct3D 10 and 11 runtime: the application's interface over a driver's functions.

``Device`` is ID3D11Device, with the methods of ID3D10Device, and makes contexts, resources, views,
shaders, states and queries.  ``DriverDevice`` below it calls the functions of a driver.
"""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
