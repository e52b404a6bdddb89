"""The commands of verbs: parameters that name files, the rule that no verb writes over its inputs,
and ``--timeout``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from inspect import cleandoc
from typing import Any, NamedTuple

import click

from dp2emu.cli.interrupts import ended_after
from dp2emu.cli.number_range import FloatRange
from dp2emu.cli.verbs import reads_line
from dp2emu.errors import UsageError
from dp2emu.outputs import Identity, identity_of, inputs_protected
from dp2emu.places import working_at


class InputPath(click.Path):
    """A file or folder that the verb reads.  It is opened later; the type is for completion."""

    suffix = ""
    """How the names of the files end that are read in a folder."""


class PicturesPath(InputPath):
    """A folder of which the verb reads the pictures alone, or a file."""

    suffix = ".png"


class OutputPath(click.Path):
    """A file that the verb writes, or a folder to which it adds files."""


class Specification(click.types.StringParamType):
    """Text ``NAME`` or ``NAME:ARGUMENT``; for some names the argument is a file to read."""

    def __init__(self, *readers: str) -> None:
        """``readers`` are the names whose argument is a file."""
        self._readers = readers

    def file_in(self, text: str) -> str | None:
        """The file that a specification names, None if it names none."""
        name, _, argument = text.partition(":")
        return argument if argument and name in self._readers else None


class Once(click.Option):
    """An option of which a second value is an error; of others the last value counts."""


INPUT = InputPath(allow_dash=True)
INPUT_PICTURES = PicturesPath(allow_dash=True)
OUTPUT = OutputPath(allow_dash=True)


class _Given(NamedTuple):
    """A file that a parameter names: the parameter as shown in the help, the path, and the suffix
    of the files that are read if it is a folder.
    """

    parameter: str
    path: str
    suffix: str = ""


_NEGATIVE = re.compile(r"-[0-9][0-9-]*")
"""An argument that is a negative number, or a range from one."""


class VerbCommand(click.Command):
    """The command of a verb.  Before it runs, options that exclude each other and outputs that are
    inputs too are refused."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments.  Raises click.UsageError for options that exclude each other, for a
        ``Once`` option that is given twice, and for a negative number, which looks as an option.
        """
        try:
            if not ctx.resilient_parsing and "--help" not in args:
                self._check_options(ctx, list(args))
            return super().parse_args(ctx, args)
        except click.NoSuchOption:
            names = [each for each in self.params if isinstance(each, click.Argument)][1:]
            negative = next(filter(_NEGATIVE.fullmatch, args), None)
            if negative is None or not names:
                raise
            words = [(each.metavar or each.name or "").strip("[]").upper() for each in names]
            listed = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
            raise click.UsageError(
                f"expected 0 or more for {listed}, got {negative}", ctx
            ) from None

    def _check_options(self, ctx: click.Context, args: list[str]) -> None:
        order = self.make_parser(ctx).parse_args(args)[2]
        seen: dict[str | None, click.Parameter] = {}
        for parameter in order:
            first = seen.setdefault(parameter.name, parameter)
            if first is not parameter:
                raise click.UsageError(
                    f"{_shown(first)} and {_shown(parameter)} exclude each other", ctx
                )
            if isinstance(parameter, Once) and order.count(parameter) > 1:
                raise click.UsageError(f"{_shown(parameter)} is given more than once", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb.  Raises UsageError for an output that is also an input: the same
        file by path, link or hard link, or the same folder.
        """
        found = list(_inputs(self, ctx))
        inputs = {identity: given for given in found for identity in _identities(given)}
        for output in _outputs(self, ctx):
            identity = None if output.path == "-" else identity_of(output.path)
            if identity is not None and (clash := inputs.get(identity)):
                raise UsageError(
                    f"{output.parameter} {output.path} would overwrite the input {clash.path}"
                )
        with (
            inputs_protected(inputs),
            working_at(lambda: {"stream": _file_of(self, ctx)}),
            ended_after(ctx.meta.get(_TIMEOUT)),
        ):
            return super().invoke(ctx)


_TIMEOUT = "dp2emu.timeout"
_LONGEST = 1e8
"""Maximum of ``--timeout``, three years: longer times are no timers of every system."""


def _keep(context: click.Context, parameter: click.Parameter, given: float | None) -> None:
    context.meta[_TIMEOUT] = given


def verb_command(
    name: str, *, more: str | None = None
) -> Callable[[Callable[..., Any]], click.Command]:
    """Decorator that makes a function the command of a verb; help lists the files it reads.

    ``more`` is a paragraph of help that several verbs share, after the function's docstring.

    The command has the option ``--timeout``, unless it bounds what the verb repeats by an option
    of this name.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        text = "\n\n".join(filter(None, (cleandoc(function.__doc__ or ""), more)))
        make = click.command(name, cls=VerbCommand, epilog=reads_line(name), help=text)
        command = make(function)
        if all(parameter.name != "timeout" for parameter in command.params):
            option = click.Option(
                ["--timeout"], metavar="SECONDS", type=FloatRange(0.001, _LONGEST),
                expose_value=False, callback=_keep,
                help="End with exit code 124 when so many seconds have passed.",
            )  # fmt: skip
            command.params.append(option)
        return command

    return decorate


def _file_of(command: click.Command, ctx: click.Context) -> str | None:
    """The one file that a verb works on, None if it is given several or none."""
    named = [each for each in command.params if isinstance(each, click.Argument)]
    values = [ctx.params[each.name or ""] for each in named if isinstance(each.type, InputPath)]
    return values[0] if len(values) == 1 and isinstance(values[0], str) else None


def _inputs(command: click.Command, ctx: click.Context) -> Iterator[_Given]:
    for parameter, values in _values(command, ctx):
        if isinstance(parameter.type, InputPath):
            suffix = parameter.type.suffix
            yield from (_Given(_shown(parameter), value, suffix) for value in values)
        elif isinstance(parameter.type, Specification):
            named = filter(None, map(parameter.type.file_in, values))
            yield from (_Given(_shown(parameter), path) for path in named)


def _outputs(command: click.Command, ctx: click.Context) -> Iterator[_Given]:
    for parameter, values in _values(command, ctx):
        if isinstance(parameter.type, OutputPath):
            yield from (_Given(_shown(parameter), value) for value in values)


def _values(
    command: click.Command, ctx: click.Context
) -> Iterator[tuple[click.Parameter, tuple[str, ...]]]:
    """(parameter, its values) for each parameter of the command that was given text."""
    for parameter in command.params:
        value = ctx.params.get(parameter.name or "")
        values = value if isinstance(value, tuple) else (value,)
        yield parameter, tuple(each for each in values if isinstance(each, str))


def _shown(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Argument):
        return parameter.make_metavar(click.get_current_context())
    return max(parameter.opts, key=len)


def _identities(given: _Given) -> Iterator[Identity]:
    """The identities of an input: of a file, or of a folder, the files that are read in it, and
    its JSON document.
    """
    path = given.path
    if path == "-":
        with suppress(OSError, ValueError, AttributeError):
            status = os.fstat(sys.stdin.fileno())
            yield status.st_dev, status.st_ino
        return
    folder = path.removesuffix(".json")
    places = [path]
    if os.path.isdir(folder):
        places += [folder, f"{folder}.json"]
        with suppress(OSError):
            places += [
                each.path for each in os.scandir(folder) if each.name.endswith(given.suffix)
            ]
    yield from filter(None, map(identity_of, places))
