"""Drivers in processes of their own answer, fail and start again like nothing else."""

from __future__ import annotations

import shlex
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import Driver
from dp2emu.errors import Fault, Unsupported, UsageError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.rig import Rig
from dp2emu.rig.failure import FindingKind, RigFailure
from dp2emu.rig.served import NativeDriver, PipeRig, Served
from tests.native.building import library, sample, served_sample
from tests.rig.calls import (
    A8R8G8B8,
    COMMANDS,
    CONTEXT,
    CREATE,
    END,
    EVENT_ANSWER,
    TARGET,
    opened,
    submitted,
)

NARROW_FILE = Path(__file__).with_name("narrow.py")
NARROW = shlex.join([sys.executable, str(NARROW_FILE)])
MAKERS: dict[str, Callable[..., Served]] = {
    "native": lambda *bugs, timeout=10.0: NativeDriver(sample(*bugs), timeout=timeout),
    "pipe": lambda *bugs, timeout=10.0: PipeRig(str(served_sample(*bugs)), timeout=timeout),
}


@pytest.fixture(params=MAKERS, scope="module")
def process(request: pytest.FixtureRequest) -> Iterator[Served]:
    with MAKERS[request.param]() as rig:
        yield rig


@pytest.fixture
def driver(process: Served) -> Iterator[Served]:
    """The honest driver, and nothing is left of what a test does to it."""
    opened(process)
    yield process
    with suppress(Fault):
        process.destroy_context(CONTEXT)
    for handle in range(64):
        with suppress(Fault):
            process.destroy_surface(handle)


def test_it_is_a_rig(driver: Served) -> None:
    assert isinstance(driver, Rig)


def test_an_event_is_answered_over_the_command_buffer(driver: Served) -> None:
    answer = submitted(driver, CREATE + END)
    assert (answer.ddrval, answer.dwErrorOffset) == (0, 20)
    assert answer.response == EVENT_ANSWER
    assert driver.read(COMMANDS, 0, 20) == EVENT_ANSWER
    assert driver.time > 0


def test_a_failing_token_is_located_from_the_start_of_the_surface(driver: Served) -> None:
    answer = submitted(driver, CREATE + b"\xff\0\0\0", offset=8)
    assert (answer.ddrval, answer.dwErrorOffset) == (HResult.D3DERR_COMMAND_UNPARSED, 20)
    assert answer.response == b""


def test_a_context_that_is_none_reaches_the_driver(driver: Served) -> None:
    assert submitted(driver, CREATE, context=77).ddrval == HResult.D3DHAL_CONTEXT_BAD


def test_memory_is_kept_and_bounded(driver: Served) -> None:
    driver.write(TARGET, 4, b"abcd")
    assert driver.read(TARGET, 0, 12) == b"\0\0\0\0abcd\0\0\0\0"
    for outside in (
        lambda: driver.read(TARGET, 16 * 8 * 4 - 3, 4),
        lambda: driver.write(TARGET, 16 * 8 * 4, b"x"),
        lambda: driver.read(99, 0, 1),
    ):
        with pytest.raises(Fault) as caught:
            outside()
        assert caught.value.hr == HResult.DDERR_INVALIDPARAMS


def test_a_level_is_a_part_of_its_texture(driver: Served) -> None:
    texture = SurfaceDesc(8, SurfaceKind.TEXTURE, 4, 4, A8R8G8B8, levels=2)
    driver.create_surface(texture)
    driver.create_surface(SurfaceDesc(9, SurfaceKind.SURFACE, 2, 2, A8R8G8B8, parent=8, index=1))
    driver.write(9, 0, b"level")
    assert driver.read(8, 64, 5) == b"level"
    with pytest.raises(Fault):
        driver.create_surface(
            SurfaceDesc(10, SurfaceKind.SURFACE, 1, 1, A8R8G8B8, parent=8, index=2)
        )


def test_surfaces_and_contexts_go(driver: Served) -> None:
    driver.destroy_surface(TARGET)
    with pytest.raises(Fault):
        driver.read(TARGET, 0, 1)
    driver.destroy_context(CONTEXT)
    with pytest.raises(Fault):
        driver.destroy_context(CONTEXT)
    assert submitted(driver, CREATE).ddrval == HResult.D3DHAL_CONTEXT_BAD


def test_a_used_handle_or_context_is_refused(driver: Served) -> None:
    with pytest.raises(Fault):
        driver.create_surface(SurfaceDesc(TARGET, SurfaceKind.MEMORY, 16))
    with pytest.raises(Fault):
        driver.create_context(CONTEXT)


def test_user_vertices_reach_the_driver(driver: Served) -> None:
    corners = [(0.0, 0.0), (16.0, 0.0), (0.0, 8.0)]
    vertices = b"".join(struct.pack("<4f", x, y, 0.5, 1.0) for x, y in corners)
    tokens = struct.pack("<BBHII", 84, 0, 1, 5, 9) + struct.pack("<BBHII", 91, 0, 1, 5, 2)
    tokens += struct.pack("<BBHH", 18, 0, 1, 0) + struct.pack("<BBHII", 91, 0, 1, 5, 1)
    call = Call(
        CONTEXT,
        lpDDCommands=COMMANDS,
        dwCommandLength=len(tokens),
        commands=tokens,
        dwFlags=1,
        dwVertexType=4,
        dwVertexLength=3,
        dwVertexSize=16,
        vertices=vertices,
    )
    counted = driver.submit(call).response
    assert counted == opened(Driver()).submit(call).response
    assert int.from_bytes(counted[16:], "little") > 0


def test_a_large_write_goes_in_pieces(driver: Served) -> None:
    size = (16 << 20) + 256
    driver.create_surface(SurfaceDesc(20, SurfaceKind.VERTEXBUFFER, size))
    driver.write(20, 0, bytes(size - 1) + b"\x07")
    assert driver.read(20, size - 4, 4) == b"\0\0\0\x07"
    assert len(driver.read(20, 0, size)) == size


def test_time_to_finish_may_be_given(driver: Served) -> None:
    driver.finish()
    driver.lock(TARGET)


def test_what_has_no_entry_point_is_unsupported(driver: Served) -> None:
    for asked in (
        lambda: driver.flip(TARGET, COMMANDS),
        lambda: driver.blit(Blt(TARGET, 0, 0, 1, 1)),
        lambda: driver.set_color_key(TARGET, (0, 0)),
    ):
        with pytest.raises(Unsupported):
            asked()


@pytest.mark.parametrize("kind", MAKERS)
def test_a_crash_is_a_result_and_not_the_end(kind: str) -> None:
    with MAKERS[kind]("CRASHES") as rig:
        opened(rig)
        with pytest.raises(RigFailure) as caught:
            submitted(rig, CREATE)
        assert caught.value.finding.kind is FindingKind.CRASH
        with pytest.raises(RigFailure):
            rig.read(TARGET, 0, 1)
        assert not rig.alive
        rig.restart()
        opened(rig)
        assert submitted(rig, b"").ddrval == 0


@pytest.mark.parametrize("kind", MAKERS)
def test_a_driver_that_never_returns_is_a_result(kind: str) -> None:
    with MAKERS[kind]("HANGS", timeout=4.0) as rig:
        opened(rig)
        with pytest.raises(RigFailure, match="no answer for 4 seconds") as caught:
            submitted(rig, CREATE)
        assert caught.value.finding.kind is FindingKind.TIMEOUT


def test_responses_behind_the_command_buffer_are_caught() -> None:
    with NativeDriver(sample("OVERRUNS")) as rig:
        opened(rig, command_bytes=16)
        rig.create_surface(SurfaceDesc(30, SurfaceKind.MEMORY, 24))
        commands = CREATE + END
        rig.write(30, 0, commands)
        submitted(rig, CREATE)
        with pytest.raises(RigFailure) as caught:
            submitted(rig, END)
        finding = caught.value.finding
        assert finding.kind is FindingKind.OVERRUN
        assert finding.what.endswith("behind command buffer 3")


def test_a_sanitizer_report_is_keyed_by_its_stack() -> None:
    with NativeDriver(sample("OVERRUNS", sanitized=True)) as rig:
        opened(rig, command_bytes=16)
        submitted(rig, CREATE)
        with pytest.raises(RigFailure) as caught:
            submitted(rig, END)
    finding = caught.value.finding
    assert finding.kind is FindingKind.SANITIZER
    assert finding.stack[-2:] == ("run", "D3dDrawPrimitives2")
    assert finding.key.startswith("sanitizer: ") and "sample_respond < run" in finding.key


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("print('hello', end='', flush=True)", "does not begin as one|ended"),
        ("import sys; sys.exit(3)", "ended with 3"),
        ("import sys; sys.exit('no luck')", "no luck"),
    ],
)
def test_a_command_that_is_no_stub_is_told(program: str, what: str) -> None:
    command = f'{sys.executable} -c "{program}"'
    with PipeRig(command) as rig, pytest.raises(RigFailure, match=what):
        rig.create_context(1)


def test_a_missing_command_is_told() -> None:
    with pytest.raises(RigFailure, match="No such file"):
        PipeRig("/nothing/there").create_context(1)


@pytest.mark.parametrize("command", ["", '"unfinished'])
def test_a_command_that_cannot_be_meant_is_refused(command: str) -> None:
    with pytest.raises(UsageError):
        PipeRig(command)


def test_a_missing_library_is_refused() -> None:
    with pytest.raises(UsageError, match="no driver"):
        NativeDriver("/nothing/there.so")


def test_a_library_without_the_entry_point_is_told() -> None:
    driver = NativeDriver(library("walking", "walking.c"))
    with driver as rig, pytest.raises(RigFailure, match="D3dDrawPrimitives2"):
        rig.create_context(1)


def test_a_call_goes_out_in_the_layout_of_the_other_side() -> None:
    with PipeRig(NARROW) as rig:
        opened(rig)
        answer = submitted(rig, CREATE)
        assert (answer.ddrval, answer.dwErrorOffset) == (32, 16 + 56 + len(CREATE))
        assert rig.time == 9
        with pytest.raises(Unsupported, match="more than 3968 bytes"):
            submitted(rig, bytes(5000))


def test_an_error_quotes_what_the_driver_said_before(tmp_path: Path) -> None:
    told = "import sys; sys.stderr.write('\\x1b[1mlibfoo.so: not found\\n')"
    script = tmp_path / "refusing.py"
    refusing = NARROW_FILE.read_text().replace("DONE.pack(0)", "DONE.pack(0x88760024)")
    script.write_text(f"{told}\n{refusing}")
    with PipeRig(shlex.join([sys.executable, str(script)])) as rig:
        with pytest.raises(Fault, match=r"standard error: \\x1b\[1mlibfoo.so: not found"):
            rig.create_context(CONTEXT)
        with pytest.raises(Fault, match=r"^((?!standard error).)*$"):
            rig.create_context(CONTEXT)


def test_a_reply_of_the_wrong_sort_breaks_the_protocol() -> None:
    with PipeRig(NARROW) as rig:
        opened(rig)
        with pytest.raises(RigFailure, match="a read was answered by record 386") as caught:
            rig.read(COMMANDS, 0, 1)
        assert caught.value.finding.kind is FindingKind.PROTOCOL


def test_a_driver_that_an_interrupt_leaves_without_an_answer_is_not_asked_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would not react, and the verb would wait for it: it is killed, before it is closed."""
    told = tmp_path / "told"
    hangs = f"import sys; sys.stdin.buffer.read(); open({str(told)!r}, 'w').close()"

    def interrupted(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(Served, "_take", interrupted)
    with (
        pytest.raises(KeyboardInterrupt),
        PipeRig(shlex.join([sys.executable, "-c", hangs])) as rig,
    ):
        rig.create_surface(SurfaceDesc(1, SurfaceKind.MEMORY, 16))
    assert not rig.alive and not told.exists()
