"""The verb ``dp2emu shader``: disassemble or assemble a shader."""

from __future__ import annotations

import click

from dp2emu.cli.captures import given_limits, with_limits
from dp2emu.cli.file_kinds import check_file
from dp2emu.cli.paths import INPUT, OUTPUT, verb_command
from dp2emu.cli.streams import byte_output, read_bytes, text_output
from dp2emu.errors import Exceeded, ShaderError
from dp2emu.shader.files import FILE_BYTES, translate


@verb_command("shader")
@click.argument("file", type=INPUT)
@click.option("-o", "--out", metavar="FILE", type=OUTPUT, help='The result; "-" is stdout.')
@with_limits
@click.option("--assemble", is_flag=True, help="Treat FILE as text, whatever its first bytes.")
def command(file: str, out: str | None, assemble: bool) -> None:
    """Disassemble or assemble a shader.

    Code of any version, vs_1_0 to cs_5_0, bare or in a DXBC container, is disassembled to text; so
    are its DWORDs in C or JSON notation.  Text is assembled to code, which needs --out.  Both
    directions are exact inverses.
    """
    if not assemble:
        check_file("shader", file)
    try:
        content = read_bytes(file, FILE_BYTES)
        given_limits().check("shader_bytes", len(content))
        result = translate(content, as_text=assemble)
    except (ShaderError, Exceeded) as error:
        raise error.at(stream=file) from None
    if isinstance(result, str):
        with text_output(out or "-") as text:
            text.write(result)
        return
    if out is None:
        raise click.UsageError("assembling text needs an output file: -o FILE")
    with byte_output(out) as code:
        code.write(result)
