"""The Direct3D 10 and 11 front end: the functions of a user-mode driver over the same GPU.

``docs/ddi10.rst`` lists what is implemented, rule by rule.
"""

from dp2emu.lazy_import import lazy_package

__getattr__, __dir__, __all__ = lazy_package(__spec__)
