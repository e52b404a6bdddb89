"""The pytest plugin: fixtures, options, what failing comparisons look like, captures of failures.

Nothing of dp2emu is imported until a test takes a fixture, so the plugin costs nothing elsewhere.

==================  ===============================================================================
fixture             what a test gets
==================  ===============================================================================
``dp2``             ``testing.Bench``: builder of calls, device and rig, everything on tape
``dp2_device``      its ``runtime.Device9``
``dp2_gpu``         its ``gpu.device.gpu.Gpu``; the test is skipped if the rig shows none
``ddi10``           ``runtime10.Device`` on an adapter that checks every promise of the runtime
``dp2_capture``     ``testing.Tape``: what the test did so far
``dp2_golden``      ``testing.Goldens`` in the folder ``goldens`` beside the test's file
==================  ===============================================================================

``@pytest.mark.dp2(rig=, timing=, engine=, scenario=, width=, height=, command_bytes=)`` says what
the bench of a test, class or module is like; what is given on the command line counts before
it where a test does not say otherwise.  ``scenario`` is a path from the test's folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dp2emu.gpu.device.gpu import Gpu
    from dp2emu.runtime import Device9
    from dp2emu.runtime10 import Device
    from dp2emu.testing import Bench, Goldens, Setup, Tape

_SAVE = pytest.StashKey[Callable[[Path], None]]()
"""Of a test item: what it did."""
_RUNNING = pytest.StashKey[pytest.Item | None]()
"""Of the configuration: the test that runs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that begin with ``--dp2``."""
    group = parser.getgroup("dp2emu")
    option = group.addoption
    option("--dp2-engine", choices=("reference", "jit", "checked"), help="What draws.")
    option("--dp2-timing", metavar="MODEL", help="Timing model, as of dp2emu replay.")
    option("--dp2-rig", metavar="SPEC", help="What is driven, as of dp2emu replay --rig.")
    option("--dp2-scenario", metavar="FILE", help="What happens besides: a TOML or JSON file.")
    option(
        "--dp2-update-goldens",
        action="store_true",
        help="Write golden files instead of comparing with them.",
    )
    option(
        "--dp2-save-failures",
        metavar="DIR",
        help="Save a capture of each failing test, and pictures of differences.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker; options that mean nothing are told once, before any test."""
    config.addinivalue_line(
        "markers",
        "dp2(rig, timing, engine, scenario, width, height, command_bytes): "
        "what the dp2 fixtures of a test are made of",
    )
    checks = {"timing": _check_timing, "rig": _check_rig, "scenario": _check_scenario}
    for name, check in checks.items():
        if (value := config.getoption(f"--dp2-{name}")) is not None:
            _checked(f"--dp2-{name}", check, value)


def _checked(option: str, check: Callable[[str], object], value: str) -> None:
    from dp2emu.errors import Dp2Error

    try:
        check(value)
    except (Dp2Error, OSError) as error:
        raise pytest.UsageError(f"{option}: {error}") from None


def _check_timing(value: str) -> object:
    from dp2emu.gpu.device.timing import parse_timing

    return parse_timing(value)


def _check_rig(value: str) -> object:
    from dp2emu.rig.spec import check_spec

    return check_spec(value)


def _check_scenario(value: str) -> object:
    from dp2emu.scenario import load_scenario

    return load_scenario(value)


@pytest.fixture
def dp2(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """A bench: ``emit`` and ``submit`` calls, or use ``device``; ``shot`` takes a picture."""
    with _setup(request).bench(request.node.name) as bench:
        request.node.stash[_SAVE] = bench.save
        yield bench


@pytest.fixture
def dp2_device(dp2: Bench) -> Device9:
    """A Direct3D 9 device on the rig."""
    return dp2.device


@pytest.fixture
def dp2_gpu(dp2: Bench) -> Gpu:
    """The emulator's GPU, to be looked at."""
    from dp2emu.errors import UsageError

    try:
        return dp2.gpu
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture
def dp2_capture(dp2: Bench) -> Tape:
    """What has gone between test and rig so far: ``text``, ``save``, ``records``."""
    return dp2.tape


@pytest.fixture
def ddi10(request: pytest.FixtureRequest) -> Device:
    """A Direct3D 10/11 device whose calls are recorded too."""
    from dp2emu.capture.recorder import Recorder
    from dp2emu.runtime10 import Device
    from dp2emu.testing import Tape

    tape = Tape(request.node.name)
    request.node.stash[_SAVE] = tape.save
    return Device(Recorder(_setup(request).adapter(), tape.write))


@pytest.fixture
def dp2_golden(request: pytest.FixtureRequest) -> Goldens:
    """Golden files beside the test."""
    from dp2emu.testing import Goldens

    update = request.config.getoption("--dp2-update-goldens")
    return Goldens(request.path.parent / "goldens", update=update)


def _setup(request: pytest.FixtureRequest) -> Setup:
    """What the command line says, then the markers, from the module's to the test's."""
    from dp2emu.testing import Setup

    names = ("engine", "timing", "rig", "scenario")
    asked = {name: request.config.getoption(f"--dp2-{name}") for name in names}
    setup = Setup().with_({name: value for name, value in asked.items() if value is not None})
    for mark in reversed(list(request.node.iter_markers("dp2"))):
        given = dict(mark.kwargs)
        if "scenario" in given:
            given["scenario"] = request.path.parent / given["scenario"]
        setup = setup.with_(given)
    return setup


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Keep in mind which test runs: comparisons are told without it."""
    item.config.stash[_RUNNING] = item
    try:
        return (yield)
    finally:
        item.config.stash[_RUNNING] = None


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    """Explain ``==`` of answers, responses, tokens and pictures in tests that take a fixture."""
    item = config.stash.get(_RUNNING, None)
    if op != "==" or item is None or not _takes_part(item):
        return None
    from dp2emu.testing import explain

    return explain(left, right, _folder(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Save the tape of a test that failed, what was not submitted yet included."""
    report = yield
    save = item.stash.get(_SAVE, None)
    folder = _folder(item) if item.config.getoption("--dp2-save-failures") else None
    if report.when == "call" and report.failed and save is not None and folder is not None:
        path = folder / "failed.dp2"
        path.parent.mkdir(parents=True, exist_ok=True)
        save(path)
        report.sections.append(("dp2emu", f"replay it: dp2emu replay --verify {path}"))
    return report


def _takes_part(item: pytest.Item) -> bool:
    names = getattr(item, "fixturenames", ())
    return any(name == "ddi10" or name.split("_")[0] == "dp2" for name in names)


def _folder(item: pytest.Item) -> Path | None:
    """Where what a test leaves goes: a folder of its own, in pytest's cache unless one is named.

    None if there is neither.
    """
    asked: str | None = item.config.getoption("--dp2-save-failures")
    name = re.sub(r"[^\w.-]+", "_", item.nodeid).strip("_")
    if asked:
        return Path(asked) / name
    cache: pytest.Cache | None = getattr(item.config, "cache", None)
    return cache.mkdir("dp2emu") / name if cache is not None else None
