"""One family of errors.  Each carries where it happened: stream, call, byte offset, token."""

from __future__ import annotations

from typing import Self

from dp2emu.escaping import plain


class Dp2Error(Exception):
    """Something is wrong with the input, and exactly this much is known about where.

    ``stream`` is a file name or ``-``; ``call`` counts D3dDrawPrimitives2 calls from 0; ``offset``
    is a byte offset (into the command surface for a token, into the file for a container);
    ``token`` is the SDK name of the token without ``D3DDP2OP_``.
    """

    def __init__(
        self,
        what: str,
        *,
        stream: str | None = None,
        call: int | None = None,
        offset: int | None = None,
        token: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.stream = stream
        self.call = call
        self.offset = offset
        self.token = token

    def at(
        self,
        *,
        stream: str | None = None,
        call: int | None = None,
        offset: int | None = None,
        token: str | None = None,
    ) -> Self:
        """Fill in what the raiser could not know; what is already known stays.  Returns self."""
        self.stream = self.stream if self.stream is not None else stream
        self.call = self.call if self.call is not None else call
        self.offset = self.offset if self.offset is not None else offset
        self.token = self.token if self.token is not None else token
        return self

    def __str__(self) -> str:
        where = [
            f"call {self.call}" if self.call is not None else None,
            f"offset {self.offset:#x}" if self.offset is not None else None,
            self.token,
        ]
        place = ", ".join(part for part in where if part)
        told = ": ".join(part for part in (self.stream, place, self.what) if part)
        return plain(told, kept="\n")  # it may quote the input, and be shown by anybody


class Malformed(Dp2Error):
    """Command bytes that are no token sequence: unknown opcode, or a payload past the end."""


class Unsupported(Dp2Error):
    """Valid input that needs a part of Direct3D which is not built yet; ``what`` names it."""


class Exceeded(Unsupported):
    """Valid input that asks for more than a setting allows; ``limit`` is its name.

    Source: ``dp2emu.limits``.
    """

    def __init__(self, limit: str, most: int, what: str) -> None:
        super().__init__(f"{what}, limit {limit} {most}")
        self.limit = limit


class Fault(Dp2Error):
    """A valid token the driver must refuse.  ``hr`` becomes ddrval (wire format, "Results")."""

    def __init__(
        self,
        hr: int,
        what: str,
        *,
        stream: str | None = None,
        call: int | None = None,
        offset: int | None = None,
        token: str | None = None,
    ) -> None:
        super().__init__(what, stream=stream, call=call, offset=offset, token=token)
        self.hr = hr


class ContractError(Dp2Error):
    """A call the Direct3D 10/11 runtime promises never to make; ``rule`` names the promise."""

    def __init__(self, entry: str, rule: str, what: str) -> None:
        super().__init__(f"{entry}: {what}")
        self.rule = rule


class CaptureError(Dp2Error):
    """A capture file that cannot be read from ``offset`` on."""


class ResponseError(Dp2Error):
    """A response buffer that breaks the protocol (wire format, "Responses")."""


class ShaderError(Dp2Error):
    """Shader code, or the text of a shader, that cannot be accepted.

    ``offset`` is in bytes from the version token; ``what`` of text starts with the line number.
    """


class SceneError(Dp2Error):
    """A scene file that does not follow its schema."""


class Disagreement(Dp2Error):
    """Two of our engines make different bits of a program, which is a mistake of ours.

    ``what`` says where and which; ``program`` is the text of the program, ``lane`` the first of
    the lanes it ran for in which they differ.
    """

    def __init__(self, what: str, program: str, lane: int) -> None:
        super().__init__(what)
        self.program = program
        self.lane = lane

    def within(self, where: str) -> Self:
        """Say where that was.  Returns self."""
        self.what = f"{where}: {self.what}"
        return self

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.program}"


class UsageError(Dp2Error):
    """An argument that cannot be meant, found below the command line."""
