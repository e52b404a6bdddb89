"""Hypothesis profiles: repeatable by default, thorough when asked; and a cache of the run's own.

``HYPOTHESIS_PROFILE=full`` or ``--hypothesis-profile=full`` runs 10,000 examples of everything
that does not set its own number, with fresh randomness.  ``unshrunk`` is for those who only want
to know whether a test fails.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import suppress
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

# A loaded two-core machine misses any deadline some day, so there is none.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("default", max_examples=50, derandomize=True, **_COMMON)
settings.register_profile("full", max_examples=10_000, derandomize=False, **_COMMON)
settings.register_profile(
    "unshrunk",
    max_examples=50,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    **_COMMON,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_configure(config: pytest.Config) -> None:
    """What tests compile is not for the user's cache, nor from there; all workers share it.

    Modules of tests may compile when they are imported, which is before any fixture.
    """
    if hasattr(config, "workerinput"):
        return  # the environment comes from the process that all workers belong to
    folder = tempfile.TemporaryDirectory(prefix="dp2emu-tests-", ignore_cleanup_errors=True)
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", folder.name)
    patch.setenv("TESTS_BUILT", os.path.join(folder.name, "built"))
    if os.environ.get("PYTHONDONTWRITEBYTECODE") and "PYTHONPYCACHEPREFIX" not in os.environ:
        # The tree stays without bytecode, but hundreds of processes share that of the run.
        patch.delenv("PYTHONDONTWRITEBYTECODE")
        patch.setenv("PYTHONPYCACHEPREFIX", os.path.join(folder.name, "bytecode"))
    config.add_cleanup(folder.cleanup)
    config.add_cleanup(patch.undo)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """The number of workers of ``-n auto``: one more than processors, since a quarter of the time
    tests wait, for a deadline or for a process that waits.
    """
    return (os.cpu_count() or 1) + 1


@pytest.fixture(autouse=True, scope="module")
def _own_background() -> Iterator[None]:
    """Better code for what earlier modules drew is not compiled while later ones run."""
    yield
    tiering = sys.modules.get("dp2emu.shader.jit.tiering")
    if tiering is not None:
        tiering.drop_background()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Thousands of tests are made, and none goes: collecting garbage would only look at them."""
    gc.disable()
    try:
        if hasattr(session.config, "workerinput"):
            _import_apart(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_apart(config: pytest.Config) -> None:
    """Import the modules of tests from a place on that each worker has for itself.

    Compiling them with explained assertions takes longer than all else in a collection.  So every
    worker compiles a part, and finds the others' bytecode.  What fails here fails again, and is
    told, when the module is collected.
    """
    given = [Path(each.partition("::")[0]).resolve() for each in config.args]
    found = (each.rglob("test_*.py") if each.is_dir() else [each] for each in given)
    files = sorted({*chain.from_iterable(found)})
    share, count = int(config.workerinput["workerid"][2:]), config.workerinput["workercount"]
    first = len(files) * share // count
    for path in files[first:] + files[:first]:
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(path.relative_to(config.rootpath).with_suffix("").parts))


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A Chromium without a network; the test is skipped where there is none.

    All tests of a process share it: playwright starts once in a process.
    """
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian's package chromium)")
    with api.sync_playwright() as playwright:
        # Its sandbox needs a user that is not root; the pages are our own.
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()
