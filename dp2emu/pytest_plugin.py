"""The pytest plugin: fixtures, options, explained comparisons, captures of failed tests.

Other modules of dp2emu are imported when a test uses a fixture, so other tests stay fast.

==================  ===============================================================================
fixture             value
==================  ===============================================================================
``dp2``             ``testing.Bench``: builder of calls, device and rig, all recorded
``dp2_device``      its ``runtime.Device9``
``dp2_gpu``         its ``gpu.device.gpu.Gpu``; other rigs skip the test
``ddi10``           ``runtime10.DriverDevice`` on an adapter that checks the rules of the runtime
``dp2_capture``     ``testing.Tape``: the calls of the test so far
``dp2_golden``      ``testing.Goldens`` in the folder ``goldens`` beside the test's file
``dp2_guard``       ``guard_pages.GuardPages`` in use: NumPy arrays end at inaccessible pages
==================  ===============================================================================

``@pytest.mark.dp2(rig=, timing=, engine=, scenario=, width=, height=, command_bytes=)`` sets
options of the bench of a test, class or module, and overrides the command line.  ``scenario`` is
relative to the test's folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dp2emu.gpu.device.gpu import Gpu
    from dp2emu.guard_pages import GuardPages
    from dp2emu.runtime import Device9
    from dp2emu.runtime10 import DriverDevice
    from dp2emu.testing import Bench, Goldens, Setup, Tape

_SAVE = pytest.StashKey[Callable[[Path], None]]()
"""Stash key; a test item's value is the function that saves its tape, to a path."""
_RUNNING = pytest.StashKey[pytest.Item | None]()
"""Key in the stash of pytest's configuration; its value is the running test, or None between
tests."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options ``--dp2-...``."""
    group = parser.getgroup("dp2emu")
    option = group.addoption
    option("--dp2-engine", choices=("reference", "jit", "checked"), help="Rendering engine.")
    option("--dp2-timing", metavar="MODEL", help="Timing model, as of dp2emu replay.")
    option("--dp2-rig", metavar="SPEC", help="Driver under test, as of dp2emu replay --rig.")
    option("--dp2-scenario", metavar="FILE", help="Machine events: a TOML or JSON file.")
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
    """Register the marker ``dp2``, and check the ``--dp2-...`` options before any test runs."""
    config.addinivalue_line(
        "markers",
        "dp2(rig, timing, engine, scenario, width, height, command_bytes): "
        "options of the dp2 fixtures of a test",
    )
    for name, check in _CHECKS.items():
        if (value := config.getoption(f"--dp2-{name}")) is not None:
            _checked(f"--dp2-{name}", check, value)


_CHECKS = {
    "timing": ("dp2emu.gpu.device.timing", "parse_timing"),
    "rig": ("dp2emu.rig.spec", "check_spec"),
    "scenario": ("dp2emu.scenario", "load_scenario"),
}
"""(Module, function) that checks an option's value and raises if it is invalid, by option."""


def _checked(option: str, check: tuple[str, str], value: str) -> None:
    from dp2emu.errors import Dp2Error

    module, function = check
    try:
        getattr(import_module(module), function)(value)
    except (Dp2Error, OSError) as error:
        raise pytest.UsageError(f"{option}: {error}") from None


@pytest.fixture
def dp2(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """A bench, to ``emit`` tokens and ``submit`` calls, use its ``device``, or take a ``shot``."""
    _guard_first(request)
    with _setup(request).bench(request.node.name) as bench:
        request.node.stash[_SAVE] = bench.save
        yield bench


@pytest.fixture
def dp2_device(dp2: Bench) -> Device9:
    """A Direct3D 9 device on the rig."""
    return dp2.device


@pytest.fixture
def dp2_gpu(dp2: Bench) -> Gpu:
    """The emulator's GPU; other rigs skip the test."""
    from dp2emu.errors import UsageError

    try:
        return dp2.gpu
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture
def dp2_capture(dp2: Bench) -> Tape:
    """The tape that records all calls of the test to the rig, to print, compare or save."""
    return dp2.tape


@pytest.fixture
def ddi10(request: pytest.FixtureRequest) -> DriverDevice:
    """A Direct3D 10/11 device whose calls are recorded."""
    from dp2emu.capture.recorder import Recorder
    from dp2emu.runtime10 import DriverDevice
    from dp2emu.testing import Tape

    _guard_first(request)
    tape = Tape(request.node.name)
    request.node.stash[_SAVE] = tape.save
    return DriverDevice(Recorder(_setup(request).adapter(), tape.write))


@pytest.fixture
def dp2_golden(request: pytest.FixtureRequest) -> Goldens:
    """The golden files beside the test."""
    from dp2emu.testing import Goldens

    update = request.config.getoption("--dp2-update-goldens")
    return Goldens(request.path.parent / "goldens", update=update)


@pytest.fixture
def dp2_guard(request: pytest.FixtureRequest) -> Iterator[GuardPages]:
    """Guard pages for the arrays of the test, and of ``dp2`` and ``ddi10`` if it uses them; where
    there are none, the test is skipped.

    The parameter of an indirect parametrisation is the ``guard_pages.Edge``, END by default.
    """
    from dp2emu.errors import Unsupported
    from dp2emu.guard_pages import Edge, GuardPages

    report = _uncaptured(request.config)
    try:
        with GuardPages(getattr(request, "param", Edge.END), report).used() as guard:
            yield guard
    except Unsupported as error:
        pytest.skip(str(error))
    finally:
        os.close(report)


def _uncaptured(config: pytest.Config) -> int:
    """A new file descriptor of the standard error that pytest does not capture."""
    manager = config.pluginmanager.getplugin("capturemanager")
    with nullcontext() if manager is None else manager.global_and_fixture_disabled():
        return os.dup(2)


def _guard_first(request: pytest.FixtureRequest) -> None:
    """Set up ``dp2_guard`` before another fixture that the test uses with it."""
    if "dp2_guard" in request.fixturenames:
        request.getfixturevalue("dp2_guard")


def _setup(request: pytest.FixtureRequest) -> Setup:
    """The options of the command line, overridden by the markers of module, class and test."""
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
    """Store the running test for ``pytest_assertrepr_compare``, which has no such parameter."""
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
    """Save the tape of a failed test, with commands that were not submitted yet."""
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
    """The folder for a test's files, below ``--dp2-save-failures`` or in pytest's cache.

    None without both.
    """
    asked: str | None = item.config.getoption("--dp2-save-failures")
    name = re.sub(r"[^\w.-]+", "_", item.nodeid).strip("_")
    if asked:
        return Path(asked) / name
    cache: pytest.Cache | None = getattr(item.config, "cache", None)
    return cache.mkdir("dp2emu") / name if cache is not None else None
