"""Hypothesis profiles: repeatable by default, thorough when asked; and a cache of the run's own.

``HYPOTHESIS_PROFILE=full`` or ``--hypothesis-profile=full`` runs 10,000 examples of everything
that does not set its own number, with fresh randomness.  ``unshrunk`` is for those who only want
to know whether a test fails.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Generator, Iterator

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
    if os.environ.get("PYTHONDONTWRITEBYTECODE") and "PYTHONPYCACHEPREFIX" not in os.environ:
        # The tree stays without bytecode, but hundreds of processes share that of the run.
        patch.delenv("PYTHONDONTWRITEBYTECODE")
        patch.setenv("PYTHONPYCACHEPREFIX", os.path.join(folder.name, "bytecode"))
    config.add_cleanup(folder.cleanup)
    config.add_cleanup(patch.undo)


@pytest.fixture(autouse=True, scope="module")
def _own_background() -> Iterator[None]:
    """Better code for what earlier modules drew is not compiled while later ones run."""
    yield
    tiering = sys.modules.get("dp2emu.shader.jit.tiering")
    if tiering is not None:
        tiering.drop_background()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests are made, and none goes: collecting garbage would only look at them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
