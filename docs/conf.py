"""Sphinx: ``python -m sphinx -W -n docs OUT`` makes the documentation, API pages included.

The sources read well where they lie: links between them are links to files, which become links to
pages here, and one that leads nowhere is a warning.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from posixpath import relpath

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import dp2emu  # noqa: E402  (of this checkout)
from dp2emu.lazy_import import names_of_stub  # noqa: E402

project = "dp2emu"
author = "The dp2emu developers"
copyright = author
version = release = dp2emu.__version__

extensions = ["sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"dp2emu {version}"
html_extra_path = ["ddi10_example.py", "replay.schema.json", "rig_example.py", "toon.vs"]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
nitpick_ignore_regex = [("py:class", ".*")]  # types in signatures may be of inner modules
autodoc_preserve_defaults = True
autodoc_default_options = {"inherited-members": "BaseException,Enum,Struct,int,object,str,tuple"}

PACKAGES = (
    "dp2emu.errors", "dp2emu.cancellation", "dp2emu.d3d", "dp2emu.dp2", "dp2emu.dp2.parse",
    "dp2emu.gpu", "dp2emu.rig",
    "dp2emu.runtime",
    "dp2emu.ddi10", "dp2emu.runtime10", "dp2emu.capture", "dp2emu.capture.apitrace", "dp2emu.text",
    "dp2emu.replay", "dp2emu.explain", "dp2emu.retrace", "dp2emu.scene", "dp2emu.batch",
    "dp2emu.conform", "dp2emu.testing", "dp2emu.testing.statistic_intervals",
    "dp2emu.testing.strategies", "dp2emu.testing.traffic",
    "dp2emu.scenario", "dp2emu.taps", "dp2emu.diff", "dp2emu.picture", "dp2emu.readback",
    "dp2emu.info", "dp2emu.snapshot", "dp2emu.shader.sm", "dp2emu.shader.sm4",
)  # fmt: skip
"""The packages that have an API page, in the order of its table of contents."""

ELSEWHERE = {
    "streams/README.rst": "captures",
    "tests/golden/README.rst": "golden",
    "tests/golden10/README.rst": "golden10",
}
"""Files outside of this folder, and the pages that show them."""

_log = logging.getLogger(__name__)


def write_api(app: Sphinx) -> None:
    """A page for each package, and one that lists what ``dp2emu`` itself offers."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    for name in PACKAGES:
        module = import_module(name)
        for each in getattr(module, "__all__", ()):
            setattr(module, each, getattr(module, each))  # names that are imported late
        title = f"{name}\n{'=' * len(name)}\n\n"
        _write(folder / f"{name}.rst", f"{title}.. automodule:: {name}\n   :members:\n")
    pages = "".join(f"   {name}\n" for name in PACKAGES)
    _write(folder / "index.rst", f"{_offered()}\n.. toctree::\n   :maxdepth: 1\n\n{pages}")


def _offered() -> str:
    """The names of the package itself, by where their page has them."""
    lines = ["Python API", "==========", "", "``import dp2emu`` has these names:", ""]
    modules = names_of_stub(dp2emu.__spec__)
    for home in sorted(set(modules.values())):
        names = [name for name, module in modules.items() if module == home]
        kinds = ", ".join(f":py:obj:`{name} <{home}.{name}>`" for name in names)
        lines.append(f"* ``{home}``: {kinds}")
    lines += ["", "All packages and modules for programs:", ""]
    return "\n".join(lines)


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def link_pages(app: Sphinx, tree: nodes.document) -> None:
    """Let links to files lead to their pages; what has none is text."""
    pages = {HERE / f"{page}.rst": page for page in app.env.found_docs}
    pages |= {HERE.parent / file: page for file, page in ELSEWHERE.items()}
    for link in list(tree.findall(nodes.reference)):
        target, hash_, part = str(link.get("refuri", "")).partition("#")
        if not target or ":" in target:
            continue
        path = (_source(link).parent / target).resolve()
        if path in pages:
            page = relpath(pages[path], Path(app.env.docname).parent)
            link["refuri"] = f"{page}.html{hash_}{part}"
        elif not path.exists():
            _log.warning("nothing at %s", target, location=link)
        elif path.parent != HERE or path.name not in html_extra_path:
            link.replace_self(link.children)


def _source(node: nodes.Node) -> Path:
    """The file that says it, which a page may only include."""
    while node.source is None and node.parent is not None:
        node = node.parent
    return Path(str(node.source))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the above."""
    app.connect("builder-inited", write_api)
    app.connect("doctree-read", link_pages)
    return {"parallel_read_safe": True}
