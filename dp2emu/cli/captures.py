"""The FILE argument of verbs, the options of bare command buffers, and ``--limit``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce, wraps
from io import BufferedReader
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import click

from dp2emu.capture import BareOptions, open_capture
from dp2emu.capture.reader import begins_as_text
from dp2emu.cli.file_kinds import check_stream
from dp2emu.cli.number_range import IntRange
from dp2emu.cli.outcome import FINE, UNUSABLE, Faults, complain, outcome_of_error, worst
from dp2emu.cli.paths import INPUT
from dp2emu.d3d.enums import Format
from dp2emu.errors import Absent, Dp2Error, Unsupported, UsageError
from dp2emu.inputs import open_input, read_file
from dp2emu.limits import Limits, parse_limits

if TYPE_CHECKING:
    from dp2emu.capture.apitrace import Trace
    from dp2emu.replay.player import Recording
    from dp2emu.retrace import Import
    from dp2emu.text import AnyCapture

Verb = Callable[..., int | None]
TraceVerb = Callable[..., int]


def with_options(verb: Verb, *options: Callable[[Verb], Verb]) -> Verb:
    """Add click options to a verb; help lists them in this order."""
    return reduce(lambda decorated, option: option(decorated), reversed(options), verb)


# Bare command buffers


def _size(text: str) -> tuple[int, int]:
    """``"640x480"`` -> (640, 480)."""
    width, x, height = text.partition("x")
    if not (x and width.isdecimal() and height.isdecimal() and len(text) <= 20):
        raise click.BadParameter(f"{text!r} is not WIDTHxHEIGHT")
    return int(width), int(height)


def _number(text: str) -> int:
    """A 32-bit number from decimal or ``0x`` hexadecimal text; click.BadParameter otherwise."""
    try:
        number = int(text[:20], 0)
    except ValueError:
        number = -1
    if not 0 <= number <= 0xFFFFFFFF:
        raise click.BadParameter(f"{text!r} is not a 32-bit number")
    return number


def _format(text: str) -> Format:
    """``"D24S8"`` or ``"D3DFMT_D24S8"`` -> Format.D24S8; ``"none"`` -> Format.UNKNOWN."""
    name = text.upper().removeprefix("D3DFMT_")
    if name == "NONE":
        return Format.UNKNOWN
    if name not in Format.__members__:
        raise click.BadParameter(f"no format {text!r}")
    return Format[name]


def _option(name: str, metavar: str, convert: Any, default: str | None, what: str) -> Any:
    return click.option(name, metavar=metavar, type=convert, default=default, help=f"Bare: {what}")


_BARE: tuple[Any, ...] = (
    click.option("--bare", is_flag=True, help="FILE has the bytes of one command buffer only."),
    _option("--fvf", "NUMBER", _number, "0", "vertex format of the call (dwVertexType)."),
    _option("--vertices", "FILE", INPUT, None, "file with the vertices of the call."),
    _option("--vertex-size", "NUMBER", _number, "0", "bytes of a vertex; 0: as the FVF says."),
    _option("--size", "WxH", _size, "640x480", "target size, 640x480 by default."),
    _option("--format", "FORMAT", _format, "X8R8G8B8", "target, X8R8G8B8 by default."),
    _option("--depth", "FORMAT", _format, "none", "depth surface, none by default."),
    _option("--interface", "6..9", IntRange(6, 9), "9", "DirectX version of the context."),
)
_FIELDS = ("fvf", "vertices", "vertex_size", "size", "format", "depth", "interface")


def _bare_options(options: dict[str, Any]) -> BareOptions | None:
    """Remove the options of a bare buffer from ``options``; returns None without --bare."""
    bare, given = options.pop("bare"), {name: options.pop(name) for name in _FIELDS}
    if not bare:
        return None
    width, height = given.pop("size")
    if given["vertices"] is not None:
        given["vertices"] = read_file(given["vertices"])
    return BareOptions(width=width, height=height, **given)


# Limits

_KEY = "dp2emu.limits"


def _keep(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> None:
    context.meta[_KEY] = parse_limits(given)


with_limits = click.option(
    "--limit", "limits", metavar="NAME=VALUE|none", multiple=True, callback=_keep,
    expose_value=False,
    help="Upper bound of a resource that a file may use, such as call_pixels=1000000; none: no "
    "bounds, for files that one trusts; docs/security.rst lists all.",
)  # fmt: skip
"""Decorator that gives a verb the option ``--limit``; ``given_limits`` returns its values."""


def given_limits() -> Limits:
    """The limits of the running verb: the default ones, changed by its ``--limit`` options."""
    context = click.get_current_context(silent=True)
    found = None if context is None else context.meta.get(_KEY)
    return found if isinstance(found, Limits) else Limits()


# Files


class Opened(NamedTuple):
    """A verb's capture (or trace imported as one), and its file: None for standard input.

    A verb that replays the capture notes the errors of calls in ``faults``.
    """

    capture: AnyCapture | Import
    file: BinaryIO | None
    faults: Faults

    @property
    def repeated(self) -> Recording:
        """The opened capture, for several passes: from a pipe or of text, it is kept in memory."""
        from dp2emu.explain.kept import KeptRecords

        text = getattr(self.capture, "kind", "") == "text"
        again = self.file is not None and self.file.seekable() and not text
        return self.capture if again else KeptRecords(self.capture)

    @property
    def stored(self) -> AnyCapture:
        """The opened capture, typed for verbs that accept no traces."""
        return cast("AnyCapture", self.capture)


def capture_verb(
    name: str, *, trace: TraceVerb | None = None, buffers: bool = True, told: bool = True
) -> Callable[[Verb], Verb]:
    """Give the verb ``name`` the FILE argument, the options of bare buffers, and ``--limit``.

    The verb gets an ``Opened`` capture, which is closed afterwards, then its own options.  FILE
    may be of the kinds in ``verbs.VERBS``.  A trace of API calls is passed to the function
    ``trace``, by default to the verb, as a capture.  Without ``buffers`` FILE is no bare buffer,
    and the verb has no options of bare buffers.  After the verb's output or error, error lines
    report the faults that it noted and, with ``told``, damage that it met in FILE, for which the
    exit code is 2; verbs without it report the damage themselves.
    """

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def run(file: str, **options: Any) -> int | None:
            bare = _bare_options(options) if buffers else None
            with _stream(file) as stream:
                place = None if file == "-" else stream
                if bare is None:
                    check_stream(name, stream, file)
                if bare is None and (calls := _trace(stream)):
                    if trace is not None:
                        return trace(calls, **options)
                    opened = Opened(_imported(calls), place, Faults())
                else:
                    opened = Opened(_stored(stream, bare), place, Faults())
                try:
                    code = _run(verb, opened, file, options)
                except Dp2Error as error:
                    damaged = told and opened.capture.damage is not None
                    if not (damaged or opened.faults):
                        raise
                    code = outcome_of_error(error)
                code = worst(code or FINE, opened.faults.report())
                return worst(code, tell_damage(opened.capture)) if told else code

        others = _BARE if buffers else ()
        return click.argument("file", type=INPUT)(with_limits(with_options(run, *others)))

    return decorate


def _run(verb: Verb, opened: Opened, file: str, options: dict[str, Any]) -> int | None:
    """Run a verb.  An error about what the capture does not have, of a limit that ends the verb,
    and of what is not supported names the ``file``.
    """
    try:
        return verb(opened, **options)
    except (Absent, Unsupported) as error:
        raise error.at(stream=file) from None


def tell_damage(capture: Recording) -> int:
    """Tell the damage that a verb has met in a capture; returns the exit code."""
    if capture.damage is None:
        return FINE
    complain(str(capture.damage))
    return UNUSABLE


@contextmanager
def opened_capture(path: str) -> Iterator[AnyCapture | Import]:
    """Open a capture file of any form, or a trace imported as one, with the given limits."""
    with _stream(path) as stream:
        calls = _trace(stream)
        yield _stored(stream, None) if calls is None else _imported(calls)


def trace_verb(verb: Verb) -> Verb:
    """Give a verb the FILE argument for a trace of API calls, and ``--limit``.

    The verb gets the trace and its file (None for standard input), then its own options.
    """

    @wraps(verb)
    def run(file: str, **options: Any) -> int | None:
        with _stream(file) as stream:
            check_stream("import", stream, file)
            trace = _trace(stream)
            if trace is None:
                raise UsageError(f"{file} is not a trace of API calls")
            return verb(trace, None if file == "-" else stream, **options)

    return click.argument("file", type=INPUT)(with_limits(run))


@contextmanager
def _stream(path: str) -> Iterator[BufferedReader]:
    if path == "-":
        yield cast(BufferedReader, sys.stdin.buffer)
        return
    with open_input(path) as file:
        yield file


def _trace(stream: BufferedReader) -> Trace | None:
    """The trace of API calls in a stream, None for a stream with other content."""
    from dp2emu.capture.apitrace import begins_as_trace

    if not begins_as_trace(stream, str(getattr(stream, "name", ""))):
        return None
    from dp2emu.capture.apitrace import open_trace

    return open_trace(stream, limits=given_limits())


def _imported(trace: Trace) -> Import:
    from dp2emu.retrace import Import

    return Import(trace)


def _stored(stream: BufferedReader, bare: BareOptions | None) -> AnyCapture:
    """Open the capture in a stream, as a bare buffer if ``bare`` is set."""
    if bare is None and begins_as_text(stream):
        from dp2emu.text import open_any  # slow to import, and few captures are text

        return open_any(stream, limits=given_limits())
    kind = None if bare is None else "bare"
    return open_capture(stream, kind=kind, bare=bare, limits=given_limits())
