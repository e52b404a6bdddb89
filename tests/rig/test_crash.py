"""A crash of a driver is one error, which names the call, the token and the address."""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path

import pytest

from dp2emu.capture.records import Record
from dp2emu.d3d.dp2structs import Op
from dp2emu.replay import locating
from dp2emu.rig.failure import Finding, FindingKind, finding_of
from dp2emu.rig.guarded import Guarded
from dp2emu.rig.served import NativeDriver, PipeRig, Served
from tests.cli.running import dp2emu
from tests.native.building import built, library, sample, served_sample
from tests.replay.authoring import (
    BUFFER,
    END,
    EVENT,
    FRAME,
    SETTING,
    TARGET,
    called,
    clear,
    create,
    issue,
    sealed,
    token,
)
from tests.rig.crashes import HANGS, VERTICES, ended

HARMLESS = called(create(1, EVENT), issue(1, END))
TOKENS = (create(5, EVENT), issue(5, END), clear(9), issue(5, END), clear(8), issue(5, END))
AT = len(TOKENS[0]) + len(TOKENS[1])
CRASHING: tuple[Record, ...] = (
    *SETTING, HARMLESS, HARMLESS, called(*TOKENS), FRAME, *[HARMLESS, FRAME] * 5,
)  # fmt: skip


def specification(kind: str) -> str:
    if kind == "native":
        return f"native:{library('crashing', 'crashing.c')}"
    return f"pipe:{built('crashing', ('dp2stub.c', 'crashing.c'))}"


def write(folder: Path, *records: Record) -> Path:
    path = folder / "a.dp2"
    path.write_bytes(sealed(*records))
    return path


@pytest.mark.parametrize("kind", ["native", "pipe"])
def test_a_crash_of_a_driver_is_one_error_with_call_token_and_address(
    kind: str, tmp_path: Path
) -> None:
    path = write(tmp_path, *CRASHING)
    ran = dp2emu("replay", path, "--rig", specification(kind), "--json", "-")
    error, summary = ran.err.splitlines()
    assert ran.code == 3
    address = ", address 0x40" if sys.platform == "linux" else ""
    assert error.startswith(f"dp2emu: {path}: call 2, offset {AT:#x}, CLEAR: crash: SIGSEGV")
    assert f"{address}; the replay ends here" in error
    assert "3 calls" in summary and "1 fault" in summary
    rows = json.loads(ran.out)["calls"]
    assert [row["fault"] and row["fault"]["token"] for row in rows] == [None, None, "CLEAR"]


def test_the_token_is_found_in_commands_behind_an_offset(tmp_path: Path) -> None:
    path = write(tmp_path, *SETTING, called(*TOKENS[:3], offset=8))
    ran = dp2emu("replay", path, "--rig", specification("native"))
    assert f"call 0, offset {8 + AT:#x}, CLEAR: crash" in ran.err


def test_the_first_token_counts_behind_which_a_driver_crashes(tmp_path: Path) -> None:
    """The planted mistake is at the end of any call that has a token."""
    path = write(tmp_path, *SETTING, called(create(5, EVENT), issue(5, END)), HARMLESS)
    ran = dp2emu("replay", path, "--rig", f"native:{sample('CRASHES')}")
    assert "call 0, offset 0x0, CREATEQUERY: crash: SIGSEGV" in ran.err
    assert ran.err.count("crash") == 1


def test_a_malformed_token_may_be_the_one(tmp_path: Path) -> None:
    ending = token(Op.CLEAR, (0,) * 4)[:8]
    path = write(tmp_path, *SETTING, called(create(5, EVENT), ending))
    ran = dp2emu("replay", path, "--rig", specification("native"))
    assert ran.code == 3 and ran.err.count("crash") == 1
    assert f"offset {len(create(5, EVENT)):#x}, CLEAR" in ran.err


def test_a_crash_between_calls_is_one_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'import os; os._exit(9)'"
    ran = dp2emu("replay", write(tmp_path, *CRASHING), "--rig", f"pipe:{command}")
    error, summary = ran.err.splitlines()
    assert ran.code == 3 and "before call 0: crash: it ended with 9" in error
    assert "1 fault" in summary


def test_a_journal_that_is_too_long_leaves_the_token_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locating, "JOURNAL_BYTES", 100)
    ran = dp2emu("replay", write(tmp_path, *CRASHING), "--rig", specification("native"))
    assert ran.code == 3 and ": call 2: crash: SIGSEGV" in ran.err


def test_a_driver_that_has_no_mistake_is_replayed_to_the_end(tmp_path: Path) -> None:
    ran = dp2emu("replay", write(tmp_path, *CRASHING), "--rig", f"pipe:{served_sample()}")
    assert "8 calls" in ran.err and "0 faults" in ran.err


ENDS = {
    0: ("crash", "SIGSEGV outside of all buffers", ("touch", "end")),
    1: ("overrun", "SIGSEGV 0 bytes behind the user's vertices", ("touch", "end")),
    2: ("overrun", f"SIGSEGV 0 bytes behind command buffer {BUFFER}", ("touch", "end")),
    3: ("overrun", f"SIGSEGV 50000 bytes behind surface {TARGET}", ("touch", "end")),
    4: ("crash", "SIGSEGV stack overflow", ("recurse",) * 5),
    5: ("crash", "SIGABRT", ("end",)),
    6: ("crash", "it ended with 3", ()),
    10: ("crash", "SIGFPE integer division by zero", ("end",)),
    11: ("crash", "SIGSEGV outside of all buffers", ()),
    12: ("crash", "SIGABRT: free(): invalid pointer", ("bad_free", "end")),
    13: ("overrun", f"SIGSEGV 2 bytes before command buffer {BUFFER}", ("touch", "end")),
}
"""By the way in which the driver ends (``crashing.c``): kind, words and innermost functions."""


def opened(kind: str, timeout: float = 10) -> Served:
    rig, _, name = specification(kind).partition(":")
    if rig == "native":
        return NativeDriver(name, timeout=timeout, forked=True)
    return PipeRig(name, timeout=timeout)


@pytest.mark.skipif(sys.platform != "linux", reason="a host that tells the address of a fault")
@pytest.mark.parametrize("kind", ["native", "pipe"])
def test_a_finding_tells_signal_and_buffer_and_distance_and_stack(kind: str) -> None:
    with opened(kind) as rig:
        for way, (end, words, stack) in ENDS.items():
            found = ended(rig, way)
            assert (found.kind.value, found.what) == (end, words)
            assert found.stack[: len(stack)] == stack
            assert (found.address is None) == (words.partition(" ")[0] != "SIGSEGV")
        behind = ended(rig, 1, lpDDVertex=VERTICES).what
        assert behind == f"SIGSEGV 0 bytes behind vertex buffer {VERTICES}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["native", "pipe"])
def test_an_endless_loop_is_a_finding(kind: str) -> None:
    with opened(kind, timeout=1) as rig:
        assert ended(rig, HANGS) == Finding(FindingKind.TIMEOUT, "no answer for 1 seconds")


@pytest.mark.parametrize("at", [-1, 102])
def test_a_store_right_beside_a_buffer_is_told_with_its_distance(at: int) -> None:
    memory = Guarded(102, "it")
    ctypes.memset(memory.address + at, 0, 1)
    assert memory.stored() == (
        "stored 1 bytes before it" if at < 0 else "stored 0 bytes behind it"
    )


@pytest.mark.parametrize(
    ("output", "finding"),
    [
        ("dp2emu-rig: crash SIGSEGV outside of all buffers, address 0x40\n",
         Finding(FindingKind.CRASH, "SIGSEGV outside of all buffers", address=0x40)),
        ("==1==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000040 (pc 0x1)\n",
         Finding(FindingKind.SANITIZER, "AddressSanitizer: SEGV", address=0x40)),
        ("no such plane\ndp2emu-rig: crash SIGABRT\n",
         Finding(FindingKind.CRASH, "SIGABRT: no such plane")),
        ("dp2emu-rig: crash SIGFPE\ndp2emu-rig: frames\n/x/own(+0x1) [0x1]\n/x/c.so(+0x1) [0x1]\n"
         "/x/own(divide+0x1) [0x1]\n/x/own(+0x2) [0x2]\n/x/own(main+0x1) [0x1]\n",
         Finding(FindingKind.CRASH, "SIGFPE", ("divide", "own+0x2"))),
    ],
)  # fmt: skip
def test_what_a_host_reports_is_read_and_the_address_is_no_part_of_the_key(
    output: str, finding: Finding
) -> None:
    assert finding_of(output, 139) == finding
    assert "40" not in finding.key
