"""Imports point down: the layers of the package, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import dp2emu
from tests.statements import plain_statements

ROOT = Path(dp2emu.__file__).parent

LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "allocation",
        "argument_check",
        "cancellation",
        "errors",
        "inputs",
        "lazy_import",
        "layout",
        "limits",
        "number_text",
        "outputs",
        "places",
        "unfinished",
        "escaping",
        "identity_cache",
        "process",
        "d3d",
    ),
    ("shader",),
    ("gpu",),
    ("dp2", "ddi10"),
    ("rig", "capture", "runtime", "runtime10"),
    (
        "batch",
        "picture",
        "readback",
        "conform",
        "diff",
        "explain",
        "fuzz",
        "guard_code",
        "guard_pages",
        "bitmap_font",
        "replay",
        "retrace",
        "info",
        "junit",
        "scenario",
        "scene",
        "snapshot",
        "taps",
        "template_driver",
        "testing",
        "text",
    ),
    ("cli", "pytest_plugin", "__main__"),
)
"""Parts of the package from the ground up; a part may import its own layer and those below."""

GPU: tuple[str, ...] = (
    "arrays",
    "resource",
    "tessellation",
    "command",
    "code",
    "input_assembler",
    "rasterizer",
    "shader_resources",
    "vertex_shader",
    "patches",
    "geometry_shader",
    "compute_shader",
    "pixel_shader",
    "output_merger",
    "transfer",
    "operation_costs",
    "work_budget",
    "code_budget",
    "compile",
    "draw",
    "device",
)
"""Parts of the GPU in the order of their imports; a part may import itself and those before it."""

SIBLINGS = {"dp2": "ddi10", "ddi10": "dp2"}
"""Parts of one layer that must not know each other."""

RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}


def sources() -> Iterator[tuple[str, Path]]:
    """(dotted module name, file) of every module below the package's ``__init__``."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = ("dp2emu", *path.relative_to(ROOT).with_suffix("").parts)
        if parts != ("dp2emu", "__init__"):
            yield ".".join(parts).removesuffix(".__init__"), path


@cache
def imported(path: Path) -> tuple[str, ...]:
    """Dotted names of dp2emu modules a file imports, wherever in the file it does."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in plain_statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("dp2emu"))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "dp2emu":
                yield from (f"dp2emu.{alias.name}" for alias in node.names)
            elif (node.module or "").startswith("dp2emu."):
                yield str(node.module)


def part_of(module: str) -> str:
    return module.split(".")[1]


def test_every_module_belongs_to_a_layer() -> None:
    assert {part_of(module) for module, _ in sources()} <= RANK.keys()


def test_imports_point_down() -> None:
    upward = [
        f"{module} imports {name}"
        for module, path in sources()
        for name in imported(path)
        if part_of(name) in RANK and RANK[part_of(name)] > RANK[part_of(module)]
    ]
    assert upward == []


def test_front_ends_do_not_know_each_other() -> None:
    crossings = [
        f"{module} imports {name}"
        for module, path in sources()
        for name in imported(path)
        if part_of(name) == SIBLINGS.get(part_of(module))
    ]
    assert crossings == []


def gpu_part_of(module: str) -> str | None:
    """The part of the GPU that a module belongs to; None elsewhere and for the package itself."""
    parts = module.split(".")
    return parts[2] if parts[1] == "gpu" and len(parts) > 2 else None


def test_stages_of_the_gpu_import_only_those_before_them() -> None:
    rank = {part: number for number, part in enumerate(GPU)}
    upward = [
        f"{module} imports {name}"
        for module, path in sources()
        if (part := gpu_part_of(module)) is not None
        for name in imported(path)
        if (other := gpu_part_of(name)) is not None and rank[other] > rank[part]
    ]
    assert upward == []


def modules_imported(path: Path, modules: frozenset[str]) -> Iterator[str]:
    """Modules that a file imports or takes names from, in functions and for type checkers too."""
    for node in plain_statements(path):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from inner & modules or {node.module} & modules
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & modules


def test_no_import_closes_a_circle() -> None:
    """An ``__init__`` hands on the names of its package, so it is no part of a circle."""
    files = {module: path for module, path in sources() if path.name != "__init__.py"}
    modules = frozenset(files)
    graph = {module: {*modules_imported(path, modules)} for module, path in files.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_nothing_imports_from_the_root_but_the_version() -> None:
    """What the root has is for others: its names come from all layers."""
    names = {name for _, path in sources() for name in imported(path) if name.count(".") == 1}
    assert {part_of(name) for name in names} <= {*RANK, "__version__"}
