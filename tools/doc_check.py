"""Which public names lack a docstring, or one that says what its reader has to know.

python tools/doc_check.py

Prints ``file:line: name: what is missing``, a line for each, and exits with 1 if there is any.
Public is what has no underscore in front.  Every such module, class, function and method has a
docstring.  Those that a package offers in its ``__all__`` also say

* which errors they raise themselves, by name;
* every parameter, by name, unless its type is a class, which says what it is;
* dtype and shape of arrays;
* units of numbers that are times, sizes or places;

in their own docstring or their class's; for methods of ``Rig`` that of the protocol is enough.
Modules of what Direct3D defines name the source of their rules.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "dp2emu"

Function = ast.FunctionDef | ast.AsyncFunctionDef

SOURCED = ("d3d", "ddi10", "dp2")
"""Packages whose modules follow documents."""
MACHINERY = frozenset(
    f"{PACKAGE}.{name}"
    for name in (
        "ddi10.context", "ddi10.draws", "ddi10.queries", "ddi10.resources",
        "ddi10.shaders", "ddi10.states", "dp2.generate", "dp2.parse", "dp2.resolve",
        "dp2.states", "dp2.states.inspect", "dp2.states.setting_kinds", "dp2.stream", "dp2.tokens",
    )
)  # fmt: skip
"""Their modules that follow none."""
SOURCE = re.compile(
    r"wire format|tokens, |Direct3D|DirectX|DirectDraw|D3D|DXGI|DDI|SDK|document|header", re.I
)

INNER = ("cli", "shader")
"""Packages whose ``__init__`` serves other parts of ours."""

UNITS: Mapping[str, str] = {
    r"seconds|timeout": r"second",
    r"ticks|time|delivery|duration|now": r"tick",
    r"width|height": r"pixel|texel",
    r"pitch|stride|capacity|size|length": r"byte|item|element|pixel",
}
"""Names of parameters -> words of which their docstring has one."""

ARRAY = re.compile(r"NDArray|ndarray")
DTYPE = re.compile(r"u?int(8|16|32|64)|float(32|64)|bool|dtype")
SHAPE = re.compile(r"shape|\(height|\(n|\(h|lanes? |flat|rows|one per|\[", re.I)


class Module(msgspec.Struct, frozen=True):
    """A module of the package: its dotted name, its file, its tree and that of its stub."""

    name: str
    path: Path
    tree: ast.Module
    stub: ast.Module | None = None


class Gap(msgspec.Struct, frozen=True):
    """Something that is not said where it should be."""

    path: Path
    line: int
    name: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.name}: {self.what}"


class Where(msgspec.Struct, frozen=True):
    """What is around a name: its file, the protocol's docstrings, and if all rules count."""

    path: Path
    protocol: Mapping[str, str]
    full: bool


def modules(root: Path = ROOT) -> dict[str, Module]:
    """Every public module of the package below ``root``, by name."""
    found = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        if not any(part.startswith("_") for part in name.split(".")):
            stub = path.with_suffix(".pyi")
            trees = [ast.parse(each.read_text("utf-8")) for each in (path, stub) if each.exists()]
            found[name] = Module(name, path.relative_to(root), *trees)
    return found


def gaps(known: Mapping[str, Module]) -> Iterator[Gap]:
    """Everything that is missing."""
    offered = set(offers(known))
    protocol = methods_of(known)
    for module in known.values():
        words = ast.get_docstring(module.tree) or ""
        if not words:
            yield Gap(module.path, 1, module.name, "no docstring")
        elif _follows_documents(module) and not SOURCE.search(words):
            yield Gap(module.path, 1, module.name, "names no source")
        for node in module.tree.body:
            if isinstance(node, (Function, ast.ClassDef)) and _public(node.name):
                full = (module.name, node.name) in offered
                yield from _of(Where(module.path, protocol, full), node, node.name, "")


def offers(known: Mapping[str, Module]) -> Iterator[tuple[str, str]]:
    """(module, name) of what packages offer: what their ``__init__``, or its stub, imports."""
    for name, module in known.items():
        if module.path.name == "__init__.py" and name.split(".")[1:2] not in _INNER:
            for node in ast.walk(module.stub or module.tree):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
                    yield from ((str(node.module), alias.name) for alias in node.names)
            yield from ((name, node.name) for node in module.tree.body
                        if isinstance(node, ast.ClassDef))  # fmt: skip


_INNER = tuple([part] for part in INNER)


def methods_of(known: Mapping[str, Module], name: str = "Rig") -> dict[str, str]:
    """Docstrings of the protocol's methods."""
    return {
        inner.name: ast.get_docstring(inner) or ""
        for node in known["dp2emu.rig.interface"].tree.body
        if isinstance(node, ast.ClassDef) and node.name == name
        for inner in node.body
        if isinstance(inner, Function)
    }


def _follows_documents(module: Module) -> bool:
    parts = module.name.split(".")
    return len(parts) > 2 and parts[1] in SOURCED and module.name not in MACHINERY


def _public(name: str) -> bool:
    return not name.startswith("_")


def _of(where: Where, node: Function | ast.ClassDef, name: str, around: str) -> Iterator[Gap]:
    words = ast.get_docstring(node) or ""
    if not words and not _is_setter(node):
        yield Gap(where.path, node.lineno, name, "no docstring")
    elif isinstance(node, ast.ClassDef):
        inside = f"{words}\n{ast.get_docstring(_made(node)) or ''}"
        for inner in node.body:
            if isinstance(inner, (Function, ast.ClassDef)) and _public(inner.name):
                yield from _of(where, inner, f"{name}.{inner.name}", inside)
    elif where.full:
        shared = where.protocol.get(node.name, "") if around else ""
        for what in _unsaid(node, f"{words}\n{around}\n{shared}"):
            yield Gap(where.path, node.lineno, name, what)


def _made(node: ast.ClassDef) -> Function | ast.ClassDef:
    """What has the docstring of making one."""
    made = [inner for inner in node.body
            if isinstance(inner, Function) and inner.name == "__init__"]  # fmt: skip
    return made[0] if made else node


def _is_setter(node: ast.AST) -> bool:
    names = {ast.unparse(each) for each in getattr(node, "decorator_list", [])}
    return any(name.endswith((".setter", "overload")) for name in names)


def _unsaid(node: Function, words: str) -> Iterator[str]:
    """What a function's docstring does not say."""
    for error in sorted(_raised(node)):
        if error not in words:
            yield f"raises {error}"
    for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        yield from _unsaid_of(parameter, words)
    returned = ast.unparse(node.returns) if node.returns else ""
    if ARRAY.search(returned) and not (DTYPE.search(words) and SHAPE.search(words)):
        yield "dtype and shape of what it returns"


def _unsaid_of(parameter: ast.arg, words: str) -> Iterator[str]:
    name = parameter.arg
    if name in ("self", "cls"):
        return
    kind = ast.unparse(parameter.annotation) if parameter.annotation else ""
    if not re.search(rf"\b{name}\b", words) and not _tells_itself(kind):
        yield f"parameter {name}"
    if ARRAY.search(kind) and not (DTYPE.search(words) and SHAPE.search(words)):
        yield f"dtype and shape of {name}"
    if re.search(r"\bint|float", kind):
        for names, unit in UNITS.items():
            if re.fullmatch(names, name) and not re.search(unit, words):
                yield f"unit of {name}"


def _tells_itself(kind: str) -> bool:
    """Is it a class that says what it is?"""
    plain = kind.removesuffix(" | None")
    classes = all(re.fullmatch(r"[A-Z]\w+", part) for part in plain.split(" | "))
    return (classes and plain not in ("Any", "NDArray")) or "PathLike" in plain


def _raised(node: Function) -> set[str]:
    """Names of errors that a function raises itself."""
    found = set()
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop()
        if isinstance(each, (Function, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(each, ast.Raise) and each.exc is not None:
            called = each.exc.func if isinstance(each.exc, ast.Call) else each.exc
            if isinstance(called, ast.Name) and called.id[:1].isupper():
                found.add(called.id)
        waiting += ast.iter_child_nodes(each)
    return found


def main() -> int:
    """Print what is missing; the exit code."""
    found = list(gaps(modules()))
    for gap in found:
        print(gap)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
