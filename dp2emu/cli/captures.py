"""Opening captures for verbs: the FILE argument and the options of bare command buffers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from io import BufferedReader
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, cast

import click

from dp2emu.capture import BareOptions, open_capture
from dp2emu.capture.opened import begins_as_text
from dp2emu.cli.limiting import given_limits, with_limits
from dp2emu.d3d.enums import Format
from dp2emu.errors import UsageError
from dp2emu.inputs import open_input, read_file

if TYPE_CHECKING:
    from dp2emu.capture.apitrace import Trace
    from dp2emu.retrace import Import
    from dp2emu.text import AnyCapture


PATH = click.Path(allow_dash=True)
"""A file name as it comes, for completion; opening it tells whether it is one."""


def _size(text: str) -> tuple[int, int]:
    """``"640x480"`` -> (640, 480)."""
    width, x, height = text.partition("x")
    if not (x and width.isdecimal() and height.isdecimal() and len(text) <= 20):
        raise click.BadParameter(f"{text!r} is not WIDTHxHEIGHT")
    return int(width), int(height)


def _number(text: str) -> int:
    """``"0x144"`` -> 324."""
    try:
        number = int(text[:20], 0)
    except ValueError:
        number = -1
    if not 0 <= number <= 0xFFFFFFFF:
        raise click.BadParameter(f"{text!r} is no 32-bit number")
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
    click.option("--bare", is_flag=True, help="FILE is command bytes and nothing else."),
    _option("--fvf", "NUMBER", _number, "0", "vertex format of the call (dwVertexType)."),
    _option("--vertices", "FILE", PATH, None, "file with the vertices of the call."),
    _option("--vertex-size", "NUMBER", _number, "0", "bytes of a vertex; 0: as the FVF says."),
    _option("--size", "WxH", _size, "640x480", "target size, 640x480 by default."),
    _option("--format", "FORMAT", _format, "X8R8G8B8", "target, X8R8G8B8 by default."),
    _option("--depth", "FORMAT", _format, "none", "depth surface, none by default."),
    _option("--interface", "6..9", click.IntRange(6, 9), "9", "DirectX version it is for."),
)


class Opened(NamedTuple):
    """A capture, or a trace read as one, and the file below it unless it is standard input."""

    capture: AnyCapture | Import
    file: BinaryIO | None

    @property
    def stored(self) -> AnyCapture:
        """The capture, for verbs that read no traces as one."""
        return cast("AnyCapture", self.capture)

    def comes_from(self, path: str) -> bool:
        """Whether ``path`` is the plain file it is read from: writing there would destroy it."""
        if self.file is None or not os.path.isfile(path):
            return False
        return os.path.samestat(os.fstat(self.file.fileno()), os.stat(path))


Verb = Callable[..., int | None]


TraceVerb = Callable[..., int] | Literal["imported"]


def capture_verb(*, text: bool, trace: TraceVerb | None = None) -> Callable[[Verb], Verb]:
    """Give a verb the FILE argument and the options of bare buffers.

    The verb gets the ``Opened`` capture first, then its own options; it is closed afterwards.
    ``text``: FILE may also be the text that dump writes.  ``trace``: it may also be a trace of API
    calls, which goes there instead, with the same options, or is read as a capture ("imported");
    without it, a trace is refused.
    """

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def run(file: str, **options: Any) -> int | None:
            bare = _bare_options(options)
            with _stream(file) as stream:
                if bare is None and (calls := _trace(stream)):
                    if callable(trace):
                        return trace(calls, **options)
                    capture = _imported(calls, trace)
                    return verb(Opened(capture, None if file == "-" else stream), **options)
                open_form = _any_form if text else _binary
                stored = open_form(stream, kind=None if bare is None else "bare", bare=bare)
                return verb(Opened(stored, None if file == "-" else stream), **options)

        decorated: Verb = run
        for option in reversed(_BARE):
            decorated = option(decorated)
        return click.argument("file", type=PATH)(with_limits(decorated))

    return decorate


def trace_verb(verb: Verb) -> Verb:
    """Give a verb the FILE argument for a trace of API calls.

    The verb gets the trace and, unless it is standard input, the file below it, then its own
    options.
    """

    @wraps(verb)
    def run(file: str, **options: Any) -> int | None:
        with _stream(file) as stream:
            trace = _trace(stream)
            if trace is None:
                raise UsageError(f"{file} is no trace of API calls")
            return verb(trace, None if file == "-" else stream, **options)

    return click.argument("file", type=PATH)(with_limits(run))


@contextmanager
def _stream(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        yield sys.stdin.buffer
        return
    with open_input(path) as file:
        yield file


def _trace(file: BinaryIO) -> Trace | None:
    """The trace of API calls that a stream holds, None if it holds something else."""
    from dp2emu.capture.apitrace import begins_as_trace

    stream = cast(BufferedReader, file)
    if not begins_as_trace(stream, str(getattr(stream, "name", ""))):
        return None
    from dp2emu.capture.apitrace import open_trace

    return open_trace(stream, limits=given_limits())


def _imported(trace: Trace, as_what: str | None) -> Import:
    if as_what is None:
        raise UsageError(f"{trace.name} is a trace of API calls; import it first")
    from dp2emu.retrace import Import

    return Import(trace)


def _any_form(file: BinaryIO, *, kind: str | None, bare: BareOptions | None) -> AnyCapture:
    stream = cast(BufferedReader, file)
    if kind is None and begins_as_text(stream):
        # What reads text takes its time to import, and most captures are none.
        from dp2emu.text import open_any

        return open_any(stream)
    return _binary(stream, kind=kind, bare=bare)


def _binary(file: BinaryIO, *, kind: str | None, bare: BareOptions | None) -> AnyCapture:
    return open_capture(file, kind=kind, bare=bare, limits=given_limits())


def _bare_options(options: dict[str, Any]) -> BareOptions | None:
    """What the options say of a bare buffer, None without --bare; takes them out."""
    bare, given = options.pop("bare"), {name: options.pop(name) for name in _FIELDS}
    if not bare:
        return None
    width, height = given.pop("size")
    if given["vertices"] is not None:
        given["vertices"] = read_file(given["vertices"])
    return BareOptions(width=width, height=height, **given)


_FIELDS = ("fvf", "vertices", "vertex_size", "size", "format", "depth", "interface")
