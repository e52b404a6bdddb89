"""Packages that import a public name on its first use, from the module that their stub gives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def names_of_stub(spec: Any) -> dict[str, str]:
    """Modules by public name, from the stub beside a package's ``__init__.py``.

    ``spec`` is the package's ``__spec__``.  The stub, which type checkers read instead of the
    package, has a line ``from MODULE import NAME as NAME`` for each name.
    """
    lines = spec.loader.get_data(f"{spec.origin}i").decode().splitlines()
    words = [line.split() for line in lines if line.startswith("from ")]
    return {name: module for _, module, _, name, *_ in words}


def lazy_package(spec: Any) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of the package with ``__spec__`` ``spec``."""
    modules = names_of_stub(spec)

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {spec.name!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[spec.name]), *modules})

    return get, names, list(modules)
