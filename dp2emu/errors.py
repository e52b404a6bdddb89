"""The exceptions of dp2emu; each can name the stream, call, byte offset and token concerned."""

from __future__ import annotations

from typing import Self, Unpack

from dp2emu.escaping import plain
from dp2emu.places import Place


class _Placed(BaseException):
    """An exception with a place in the input; ``Dp2Error`` explains the attributes."""

    def __init__(self, what: str, **place: Unpack[Place]) -> None:
        super().__init__(what)
        self.what = what
        self.stream = place.get("stream")
        self.call = place.get("call")
        self.offset = place.get("offset")
        self.token = place.get("token")

    def at(self, **place: Unpack[Place]) -> Self:
        """Set those of stream, call, offset and token that are None; returns the error itself."""
        for name, value in place.items():
            if getattr(self, name) is None:
                setattr(self, name, value)
        return self

    def __str__(self) -> str:
        where = [
            f"call {self.call}" if self.call is not None else None,
            f"offset {self.offset:#x}" if self.offset is not None else None,
            self.token,
        ]
        place = ", ".join(part for part in where if part)
        message = ": ".join(part for part in (self.stream, place, self.what) if part)
        return plain(message, kept="\n")  # it may quote untrusted input


class Dp2Error(_Placed, Exception):
    """An error in the input, and its place as far as known.

    ``stream`` is a file name or ``-``; ``call`` counts D3dDrawPrimitives2 calls from 0; ``offset``
    is a byte offset (into the command surface for a token, into the file for a container);
    ``token`` is the SDK name of the token without ``D3DDP2OP_``.
    """


class Cancelled(_Placed):
    """Work that ended because its token was cancelled (``dp2emu.cancellation``), and its place.

    Not a Dp2Error, as the input is not at fault, and not an Exception, as code that continues
    after errors must not continue after it.
    """


class Interrupted(_Placed, KeyboardInterrupt):
    """A signal or a timeout that ends the command, and the place of the work that it ended.

    Code that handles Ctrl-C handles it too.
    """


STOPPED = Cancelled, Interrupted
"""Exceptions that end work early, through no fault of the input."""


class Malformed(Dp2Error):
    """Command bytes that are not a token sequence: unknown opcode, or a payload past the end."""


class Unsupported(Dp2Error):
    """Valid input that needs a feature of Direct3D that is not implemented; ``what`` names it."""


class Exceeded(Unsupported):
    """Valid input that exceeds the bound ``limit`` of ``dp2emu.limits``.

    ``what`` is the text of ``Limits.refusal``; where a driver has a result code, or a reader a
    kind of error, another Dp2Error has that text.
    """

    def __init__(self, limit: str, what: str) -> None:
        super().__init__(what)
        self.limit = limit


class Fault(Dp2Error):
    """A valid token that a driver refuses.  ``hr`` becomes ddrval (wire format, "Results")."""

    def __init__(self, hr: int, what: str, **place: Unpack[Place]) -> None:
        super().__init__(what, **place)
        self.hr = hr


class ContractError(Dp2Error):
    """A call that the Direct3D 10/11 runtime never makes; ``rule`` names the broken rule."""

    def __init__(self, entry: str, rule: str, what: str) -> None:
        super().__init__(f"{entry}: {what}")
        self.rule = rule


class CaptureError(Dp2Error):
    """A capture file that cannot be read from ``offset`` on."""


class ResponseError(Dp2Error):
    """A response buffer that breaks the protocol (wire format, "Responses")."""


class ShaderError(Dp2Error):
    """Invalid shader code or shader text.

    ``offset`` is in bytes from the version token; ``what`` of text starts with the line number.
    """


class SceneError(Dp2Error):
    """A scene file that does not follow its schema."""


class Disagreement(Dp2Error):
    """Two engines computed different results for a program: a bug of the emulator.

    ``what`` says where and which results; ``program`` is the text of the program, ``lane`` the
    number of the first lane with different results.
    """

    def __init__(self, what: str, program: str, lane: int) -> None:
        super().__init__(what)
        self.program = program
        self.lane = lane

    def within(self, where: str) -> Self:
        """Put ``where`` and a colon before the message; returns the error itself."""
        self.what = f"{where}: {self.what}"
        return self

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.program}"


class DecodingDisagreement(Dp2Error):
    """Two decoders read a command buffer, or built a response, differently: a bug of the emulator.

    ``what`` names the token, field or byte, with both values.
    """


class UsageError(Dp2Error):
    """An invalid argument of a function of the library."""


class Absent(UsageError):
    """An argument that names something that the input does not have, such as an event."""


class ArgumentError(UsageError, TypeError, ValueError):
    """An argument of another type or range than the annotation of the parameter, an unknown name
    of a function, or too few or too many arguments.
    """
