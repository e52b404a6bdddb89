"""Tries a display driver in a shared library, which is the only argument."""

import sys

from dp2emu import Device9, NativeDriver, QueryType
from dp2emu.conform import Verdict, kit, run_kit

with NativeDriver(sys.argv[1], timeout=30) as driver:
    event = Device9(driver, 640, 480).create_query(QueryType.EVENT)
    event.end()
    print("event:", event.wait().hr.name)
    driver.restart()
    for outcome in run_kit(kit("query", "response"), driver):
        if outcome.verdict is Verdict.FAILED:
            print(f"{outcome.case.name}: {outcome.why}")
