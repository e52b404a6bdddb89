"""The page of a report: a template, a style, a script, and the model as JSON."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from dp2emu import __version__

SCRIPTS = ("dom", "pictures", "events", "viewer", "facts", "sheets", "page")
"""Names of the page's scripts, in the order in which they depend on each other."""

_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def page_of(model: dict[str, Any]) -> str:
    """HTML text of a page with a model (``model.report_model``); it loads nothing else.

    Its policy is the policy of ``rendered``, so that a name in the capture cannot become code.
    """
    # The script's JSON is escaped for its element, and is not HTML.
    return rendered(_text("page.html.j2"), page_style(), _script(),
                    title=model["title"], model=script_json(model))  # fmt: skip


def page_style() -> str:
    """The style sheet of reports."""
    return _text("page.css")


def rendered(
    template: str, style: str, script: str = "", *, model: str = "", **values: Any
) -> str:
    """HTML text of a Jinja template that extends ``shell.html.j2``; ``values`` are escaped.

    The page's policy allows its own script and style by their hashes, pictures in data URLs, and
    nothing else.  ``model`` must be text that may stand in a script element.
    """
    # Imported here: only reports need it.
    from jinja2 import Environment, FunctionLoader
    from markupsafe import Markup

    environment = Environment(
        autoescape=True, keep_trailing_newline=True, loader=FunctionLoader(_text)
    )
    return environment.from_string(template).render(
        generator=f"dp2emu {__version__}",
        policy=_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        model=Markup(model),
        **values,
    )


def script_json(value: Any) -> str:
    """JSON text that may stand in a script element: no character of it can end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.translate(_IN_SCRIPT)


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}"


@cache
def _script() -> str:
    parts = "\n".join(_text(f"{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
