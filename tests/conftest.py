"""Hypothesis profiles: repeatable by default, thorough when asked.

``HYPOTHESIS_PROFILE=full`` or ``--hypothesis-profile=full`` runs 10,000 examples of everything
that does not set its own number, with fresh randomness.  ``unshrunk`` is for those who only want
to know whether a test fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

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


@pytest.fixture(scope="session", autouse=True)
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests compile is not for the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
