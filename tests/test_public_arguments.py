"""No public function answers an unfit argument with an exception that the library does not define.

Every public function and method is called with fitting arguments, of which one at a time is
replaced by values of other types.  A call has a result or raises a Dp2Error.
"""

from __future__ import annotations

import contextlib
import enum
import inspect
import io
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, BinaryIO, Literal, TextIO, Union, get_args, get_origin

import numpy as np
import pytest

import dp2emu
from dp2emu.argument_check import hints_of
from dp2emu.capture import Capture, CaptureWriter, LogWriter, open_capture
from dp2emu.capture.apitrace import Trace, TraceCall, open_trace
from dp2emu.d3d.enums import QueryType
from dp2emu.ddi10 import Device as DdiDevice
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.device import DXGI_FUNCTIONS, SINCE
from dp2emu.diff import EXACT, Comparison, Judge, References
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.table import TABLE, Token
from dp2emu.errors import ArgumentError, Dp2Error, Unsupported
from dp2emu.explain.inspector import Inspector
from dp2emu.explain.playback import Playback, Stage
from dp2emu.gpu import Gpu, Heap, Report, Surface, SurfaceDesc, SurfaceKind, Timing
from dp2emu.gpu.command.queries import Counters, QuerySlot, snapshot
from dp2emu.replay import RawFrames
from dp2emu.rig import NativeDriver, PipeRig, RecordedRig
from dp2emu.runtime import CommandBuffer, Device9, Query, Session
from dp2emu.runtime.directdraw import DirectDraw
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.earlydevice import Device3, EarlyDevice
from dp2emu.runtime.textures import Textures
from dp2emu.runtime10 import Api
from dp2emu.runtime10 import Device as Device11
from dp2emu.runtime10 import DriverDevice as Device10
from dp2emu.runtime10 import Query as Query10
from dp2emu.taps import Taps
from dp2emu.text import TextCapture
from tests.native.building import sample, served_sample
from tests.runtime.test_earlydevice import Bench as EarlyBench
from tests.runtime10.making import MAKERS
from tests.runtime10.making import device as device11
from tests.tools.loading import ROOT

STREAM = ROOT / "streams" / "first_light.dp2"
TRACE = ROOT / "streams" / "real" / "d3d9_tri.trace"

PACKAGES = (
    "", ".capture", ".capture.apitrace", ".conform", ".d3d", ".ddi10", ".diff", ".dp2", ".gpu",
    ".replay", ".rig", ".runtime", ".runtime10", ".scene", ".shader.sm", ".shader.sm4", ".text",
)  # fmt: skip
"""Packages whose public functions and classes are called."""


def values() -> tuple[Any, ...]:
    """Values of all types, of which some fit."""
    return (
        None, -1, 5, 1 << 31, 1 << 70, 0.5, float("nan"), "x", b"x", [], {}, (1, 2), ["x"],
        object(), len, np.zeros(2), Path("nowhere"), io.StringIO("x"), io.BytesIO(b"x"),
    )  # fmt: skip


PICTURE = np.zeros((4, 4, 3), np.uint8)


def bench() -> Device9:
    return Device9(Driver(), 16, 16)


def device3() -> Device3:
    early = EarlyBench()
    return Device3(early.ddraw, early.target)


def heap() -> Heap:
    made = Heap()
    made.create(SurfaceDesc(1, SurfaceKind.MEMORY, 64))
    return made


def report() -> Report:
    at = snapshot(Counters(), 0)
    return Report(QuerySlot(0, None, 0), 0, at, at, 0)


def ddi() -> DdiDevice:
    return Adapter(checking=True).create_device(Interface.D3D11_0, lambda layer, code: None)


def first_call() -> TraceCall:
    with contextlib.closing(open_trace(io.BytesIO(TRACE.read_bytes()))) as trace:
        return next(iter(trace.calls()))


def made11(make: Callable[[Device11], Any], folder: Path) -> Any:
    return make(device11(checking=True))


MAKE: Mapping[type, Callable[[Path], Any]] = {
    Adapter: lambda folder: Adapter(),
    Capture: lambda folder: open_capture(io.BytesIO(STREAM.read_bytes())),
    CaptureWriter: lambda folder: CaptureWriter(folder / "out.dp2"),
    CommandBuffer: lambda folder: CommandBuffer(256, lambda commands: None),
    Comparison: lambda folder: dp2emu.compare_images(PICTURE, PICTURE),
    DdiDevice: lambda folder: ddi(),
    Device3: lambda folder: device3(),
    Device9: lambda folder: bench(),
    Device10: lambda folder: Device10(Adapter(checking=True)),
    DirectDraw: lambda folder: DirectDraw(Driver()),
    DrawSurface: lambda folder: EarlyBench().target,
    Driver: lambda folder: Driver(),
    EarlyDevice: lambda folder: EarlyBench().device,
    Gpu: lambda folder: Gpu(),
    Heap: lambda folder: heap(),
    Inspector: lambda folder: Inspector(open_capture(io.BytesIO(STREAM.read_bytes()))),
    Judge: lambda folder: Judge(References(folder), EXACT),
    LogWriter: lambda folder: LogWriter(folder / "out.log"),
    NativeDriver: lambda folder: NativeDriver(sample()),
    PipeRig: lambda folder: PipeRig(str(served_sample())),
    QuerySlot: lambda folder: QuerySlot(0, None, 0),
    Query: lambda folder: bench().create_query(QueryType.EVENT),
    Query10: lambda folder: Device10(Adapter(checking=True)).create_query(0),
    RawFrames: lambda folder: RawFrames(io.BytesIO()),
    RecordedRig: lambda folder: RecordedRig(open_capture(io.BytesIO(STREAM.read_bytes()))),
    References: lambda folder: References(folder),
    Report: lambda folder: report(),
    Session: lambda folder: bench().session,
    Stage: lambda folder: Playback(open_capture(io.BytesIO(STREAM.read_bytes()))).stage,
    Surface: lambda folder: heap().get(1),
    Taps: lambda folder: Taps(Gpu()),
    TextCapture: lambda folder: TextCapture(io.StringIO("dp2emu-text version=1\n")),
    Textures: lambda folder: bench().textures,
    Timing: lambda folder: dp2emu.instant(),
    Token: lambda folder: TABLE[8],
    Trace: lambda folder: open_trace(io.BytesIO(TRACE.read_bytes())),
    TraceCall: lambda folder: first_call(),
    **{kind: partial(made11, make) for kind, make in MAKERS.items()},
}
"""Instances of public classes, made in a temporary folder."""


def close(found: Any) -> None:
    """Close a file or process."""
    if hasattr(found, "close") and not isinstance(found, RawFrames):
        with contextlib.suppress(Dp2Error):
            found.close()


class Fitting:
    """Arguments that fit annotations.  Mutable: made instances are kept by class."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: dict[type, Any] = {}

    def instance(self, kind: type) -> Any:
        """An instance of a public class, the same each time."""
        if kind not in self._made:
            self._made[kind] = MAKE[kind](self.folder)
        return self._made[kind]

    def close(self) -> None:
        """Close the instances that are open files or processes."""
        for made in self._made.values():
            close(made)

    def value(self, hint: Any) -> Any:
        """A value of a type hint."""
        if hint in _SIMPLE:
            return _SIMPLE[hint]()
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType):
            return self.value(next(each for each in arguments if each is not NoneType))
        if origin is Literal:
            return arguments[0]
        if origin is not None:
            return self._generic(origin, arguments)
        if not inspect.isclass(hint):
            return 5
        if hint in MAKE:
            return self.instance(hint)
        return self._of_class(hint)

    def _generic(self, origin: Any, arguments: tuple[Any, ...]) -> Any:
        if inspect.isclass(origin) and issubclass(origin, np.ndarray):
            return np.zeros((4, 4, 3), np.uint8)
        if origin is tuple and arguments[-1] is not Ellipsis:
            return tuple(map(self.value, arguments))
        if inspect.isclass(origin) and issubclass(origin, Mapping):
            return {}
        if inspect.isclass(origin) and hasattr(origin, "__iter__"):
            return [self.value(arguments[0])]
        return self.folder / "file" if "PathLike" in str(origin) else lambda *given: None

    def _of_class(self, kind: Any) -> Any:
        if issubclass(kind, enum.Enum):
            return next(iter(kind))
        if issubclass(kind, BaseException):
            return kind("x")
        if issubclass(kind, np.ndarray):
            return np.zeros((4, 4, 3), np.uint8)
        if getattr(kind, "_is_protocol", False):
            return self.instance(Driver if kind.__name__ == "Rig" else _PROTOCOLS[kind.__name__])
        hints = hints_of(kind)
        names = getattr(kind, "__struct_fields__", getattr(kind, "_fields", ()))
        defaults = getattr(kind, "__struct_defaults__", getattr(kind, "_field_defaults", ()))
        required = names[: len(names) - len(defaults)]
        return kind(*(self.value(hints.get(name, Any)) for name in required))


_PROTOCOLS: dict[str, type] = {
    "Recording": Capture,
    "Adapter": Adapter,
    "Observable": Driver,
    "Owner": Device11,
}
_SIMPLE: dict[Any, Callable[[], Any]] = {
    Any: lambda: 5,
    object: object,
    None: lambda: None,
    NoneType: lambda: None,
    int: lambda: 1,
    float: lambda: 0.5,
    bool: lambda: True,
    str: lambda: "x",
    bytes: lambda: bytes(64),
    bytearray: lambda: bytearray(64),
    Path: lambda: Path("nowhere"),
    TextIO: io.StringIO,
    BinaryIO: lambda: io.BytesIO(STREAM.read_bytes()),
    io.BufferedReader: lambda: io.BufferedReader(io.BytesIO(STREAM.read_bytes())),
}


def _counts(found: Any) -> bool:
    """Whether a public name is called: no enumeration, exception, interface or alias."""
    if inspect.isclass(found):
        kinds = enum.Enum | BaseException
        return not (issubclass(found, kinds) or getattr(found, "_is_protocol", False))
    return get_origin(found) is None


def _public() -> Iterator[tuple[str, Any]]:
    """Names and objects of all public functions, classes and records, each once."""
    seen: dict[int, None] = {}
    for package in PACKAGES:
        module = import_module(f"dp2emu{package}")
        for name in module.__all__:
            found = getattr(module, name)
            if callable(found) and _counts(found) and id(found) not in seen:
                seen[id(found)] = None
                yield f"dp2emu{package}.{name}", found


EXTRA = (Device3, DirectDraw, DrawSurface, EarlyDevice, Textures)
"""Classes that are public by their modules: devices before Direct3D 8, and parts of devices."""

PUBLIC = dict(_public()) | {f"{each.__module__}.{each.__name__}": each for each in EXTRA}


def methods_of(kind: type) -> Iterator[str]:
    """Names of the public methods of a class."""
    for name in dir(kind):
        if not name.startswith("_"):
            member = inspect.getattr_static(kind, name)
            if inspect.isfunction(member) or isinstance(member, staticmethod | classmethod):
                yield name


def calls(function: Callable[..., Any], fitting: Fitting) -> Iterator[tuple[list[Any], Any]]:
    """Arguments with one unfit value, at each place and of each type."""
    hints = hints_of(function)
    parameters = [
        each for each in inspect.signature(function).parameters.values() if each.name != "self"
    ]
    for place in parameters:
        for value in values():
            positional, named = [], {}
            for each in parameters:
                given = value if each is place else each.default
                if given is each.empty or (each is not place and each.default is None):
                    given = fitting.value(hints.get(each.name, Any))
                if each.kind is each.KEYWORD_ONLY:
                    named[each.name] = given
                elif each.kind is not each.VAR_KEYWORD:
                    positional.append(given)
            yield positional, named


def used(found: Any) -> None:
    """Take some results of an iterator, enter a context, close a file."""
    if isinstance(found, contextlib._GeneratorContextManager):
        with found:
            return
    if isinstance(found, Iterator):
        for _ in range(3):
            next(found, None)
    close(found)


CALLS_BACK = ("dp2emu.Inspector.run_to",)
"""Methods that call a function of the caller, whose exceptions are the caller's."""


def tried(name: str, function: Callable[..., Any], fitting: Fitting) -> list[str]:
    """Calls of a function that raised another exception than a Dp2Error."""
    failed = []
    for positional, named in calls(function, fitting):
        try:
            used(function(*positional, **named))
        except (Dp2Error, OSError):
            pass
        except Exception as error:
            if name in CALLS_BACK and len in positional:
                continue
            failed.append(f"{name}{positional}{named}: {type(error).__name__}: {error}")
    return failed


@pytest.mark.parametrize("name", PUBLIC)
def test_unfit_arguments_end_in_a_result_or_in_the_documented_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    target = PUBLIC[name]
    with contextlib.closing(Fitting(tmp_path)) as fitting:
        failed = tried(name, target, fitting)
        for method in methods_of(target) if inspect.isclass(target) else ():
            made = getattr(fitting.value(target), method)
            failed += tried(f"{name}.{method}", made, fitting)
    assert not failed, "\n".join(failed[:20])


@pytest.mark.parametrize("name", [*SINCE, *DXGI_FUNCTIONS])
def test_every_function_of_direct3d_10_and_11_refuses_unfit_arguments(name: str) -> None:
    device, failed = ddi(), []
    entries, functions = device.entries, device.functions
    if name in DXGI_FUNCTIONS:
        entries, functions = device.dxgi_entries, device.dxgi_functions
    runtime = Device10(Adapter(checking=True))
    for given, named in calls(entries.get(name, len), Fitting(Path())):
        for call in (functions[name], partial(runtime.call, name)):
            try:
                call(*given, **named)
            except Dp2Error:
                pass
            except Exception as error:
                failed.append(f"{name}{given}: {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed[:20])


@pytest.mark.parametrize("name", [*SINCE, *DXGI_FUNCTIONS, "NoSuchFunction", 5])
def test_any_number_of_arguments_of_the_facade_ends_in_a_result_or_the_documented_error(
    name: Any,
) -> None:
    device = Device10(Adapter(checking=True))
    for count in range(20):
        with contextlib.suppress(Dp2Error):
            device.call(name, *range(count))


def test_unknown_functions_of_the_facade_are_named() -> None:
    device = Device10(Adapter(checking=True))
    with pytest.raises(ArgumentError, match="no function 'NoSuchFunction'"):
        device.call("NoSuchFunction")
    with pytest.raises(ArgumentError, match="no function 'NoSuchFunction'"):
        ddi().functions["NoSuchFunction"]()
    with pytest.raises(ArgumentError, match="Draw takes 2 arguments, not 1"):
        device.call("Draw", 3)
    with pytest.raises(Unsupported, match="Dispatch before Direct3D 11"):
        Device10(Adapter(), Api.D3D10).call("Dispatch", 1, 1, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda device: device.create_query(0), "create_query: kind is 0, not QueryType"),
        (lambda device: device.set_texture(0, 5), "set_texture: texture is 5, not Texture"),
        (lambda device: device.set_fvf("x"), "set_fvf: fvf is 'x', not int"),
        (lambda device: device.draw_primitive(4, None, 1), "start is None, not int"),
    ],
)
def test_the_error_names_function_parameter_value_and_type(call: Any, message: str) -> None:
    device = bench()
    with pytest.raises(ArgumentError, match=message) as caught:
        call(device)
    assert isinstance(caught.value, Dp2Error) and isinstance(caught.value, TypeError)
