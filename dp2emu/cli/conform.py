"""The verb ``dp2emu conform``: test whether a driver follows the rules."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dp2emu.cli.junit import with_junit, write_junit
from dp2emu.cli.options import with_rig
from dp2emu.cli.outcome import DIFFERS, FINE, say
from dp2emu.cli.paths import OUTPUT, verb_command
from dp2emu.cli.streams import text_output
from dp2emu.conform import Case, Outcome, Verdict, kit, run_kit, version_of
from dp2emu.conform.announcement import caps_document, caps_table
from dp2emu.conform.report import case_results, document, export, summary, table
from dp2emu.dp2.table import Since
from dp2emu.escaping import plain
from dp2emu.rig.capabilities import capabilities_of
from dp2emu.rig.spec import using_rig


@verb_command("conform")
@click.argument("families", metavar="[CASE...]", nargs=-1)
@with_rig
@click.option(
    "--ddi",
    type=click.Choice([str(int(version)) for version in Since]),
    help="Version of the driver's interface; default: what the driver announces, else 9.",
)
@click.option(
    "--json",
    "json_path",
    metavar="PATH",
    type=OUTPUT,
    help='Write outcomes as JSON; "-" is stdout.',
)
@with_junit
@click.option(
    "--html", "html_path", metavar="PATH", type=OUTPUT, help='Write a page; "-" is stdout.'
)
@click.option(
    "--failures",
    "failures_path",
    metavar="DIR",
    type=OUTPUT,
    help="Write each failed case as a capture, a C program, and pictures or text.",
)
@click.option(
    "--export", "folder", metavar="DIR", type=OUTPUT, help="Only write the cases as files."
)
@click.option(
    "--wild", is_flag=True, help="Also send what no runtime sends, such as unknown contexts."
)
@click.option("--list", "listing", is_flag=True, help="Only list the cases.")
@click.option("--caps", is_flag=True, help="Only print what the driver announces.")
def command(
    families: tuple[str, ...],
    rig: str,
    ddi: str | None,
    json_path: str | None,
    junit_path: str | None,
    html_path: str | None,
    failures_path: str | None,
    folder: str | None,
    wild: bool,
    listing: bool,
    caps: bool,
) -> int:
    """Test whether a driver follows the rules, by small captures of one rule each.

    CASE is a prefix of case names, such as "query" or "walk.length"; default: all cases.
    """
    if listing or folder is not None:
        cases = kit(*families, ddi=int(ddi or Since.DX9), wild=wild)
        return _listed(cases) if listing or folder is None else _exported(cases, folder)
    if caps:
        return _announced(rig, int(ddi or Since.DX9), json_path)
    with using_rig(rig) as driven:
        version = int(ddi or version_of(driven))
        told = capabilities_of(driven, version)
        cases = kit(*families, ddi=version, wild=wild, capabilities=told)
        outcomes = list(run_kit(cases, driven, version))
    if "-" not in (json_path, html_path):
        click.echo("\n".join(map(plain, table(outcomes))))
    if json_path is not None:
        with text_output(json_path) as page:
            json.dump(document(rig, outcomes, version), page, indent=1)
            page.write("\n")
    if junit_path is not None:
        write_junit(junit_path, f"dp2emu conform {rig}", case_results(outcomes))
    _write_failures(rig, outcomes, html_path, failures_path)
    before = "" if version == Since.DX9 else f"DirectX {version}: "
    say(before + summary(outcomes))
    return DIFFERS if any(each.verdict is Verdict.FAILED for each in outcomes) else FINE


def _announced(rig: str, ddi: int, json_path: str | None) -> int:
    """Print what a rig's driver announces to a runtime of DirectX ``ddi`` as a table, and write it
    as JSON to a path.
    """
    with using_rig(rig) as driven:
        told = capabilities_of(driven, ddi)
    if told is None:
        say(f"{rig} announces nothing")
    if told is not None and json_path != "-":
        click.echo("\n".join(map(plain, caps_table(told))))
    if json_path is not None:
        with text_output(json_path) as page:
            json.dump(None if told is None else caps_document(told), page, indent=1)
            page.write("\n")
    return FINE


def _listed(cases: tuple[Case, ...]) -> int:
    for case in cases:
        since = f"since DirectX {int(case.since)}"
        click.echo(f"{case.name}: {case.rule} ({case.source}; {since})")
    return FINE


def _exported(cases: tuple[Case, ...], folder: str) -> int:
    wild = sum(case.wild for case in cases)
    marked = f", {wild} of them wild" if wild else ""
    say(f"{export(cases, Path(folder))} cases in {folder}{marked}")
    return FINE


def _write_failures(
    rig: str, outcomes: list[Outcome], html_path: str | None, folder: str | None
) -> None:
    # Imported here: other runs need neither pictures nor templates.
    if html_path is not None:
        from dp2emu.conform.page import page

        with text_output(html_path) as file:
            file.write(page(rig, outcomes))
    if folder is not None:
        from dp2emu.conform.failures import write_failures

        write_failures(Path(folder), outcomes)
