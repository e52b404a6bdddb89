"""The Chromium of the tests of reports, for the page of conformance cases."""

from tests.explain.report.conftest import chromium as chromium
