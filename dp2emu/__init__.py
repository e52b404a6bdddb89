"""dp2emu: the DirectX 6 to 9 display driver and its GPU, in Python.

The names here are those that most programs need; each is imported when it is asked for, so that
``import dp2emu`` costs nothing.  The packages have more: ``dp2emu.replay.replay`` plays captures,
``dp2emu.batch`` many of them, ``dp2emu.conform`` tries drivers, ``dp2emu.testing`` is for tests,
``dp2emu.runtime10`` is the application's half of Direct3D 10 and 11.
"""

from typing import TYPE_CHECKING

from dp2emu.lazy_import import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dp2emu.capture import Capture as Capture
    from dp2emu.capture import CaptureWriter as CaptureWriter
    from dp2emu.capture import open_capture as open_capture
    from dp2emu.d3d import Format as Format
    from dp2emu.d3d import HResult as HResult
    from dp2emu.d3d import PrimitiveType as PrimitiveType
    from dp2emu.d3d import QueryType as QueryType
    from dp2emu.d3d import RenderState as RenderState
    from dp2emu.ddi10 import Adapter as Adapter
    from dp2emu.diff import compare_images as compare_images
    from dp2emu.dp2 import Answer as Answer
    from dp2emu.dp2 import Call as Call
    from dp2emu.dp2 import Driver as Driver
    from dp2emu.dp2 import Op as Op
    from dp2emu.dp2 import Options as Options
    from dp2emu.errors import CaptureError as CaptureError
    from dp2emu.errors import ContractError as ContractError
    from dp2emu.errors import Disagreement as Disagreement
    from dp2emu.errors import Dp2Error as Dp2Error
    from dp2emu.errors import Fault as Fault
    from dp2emu.errors import Malformed as Malformed
    from dp2emu.errors import ResponseError as ResponseError
    from dp2emu.errors import SceneError as SceneError
    from dp2emu.errors import ShaderError as ShaderError
    from dp2emu.errors import Unsupported as Unsupported
    from dp2emu.errors import UsageError as UsageError
    from dp2emu.gpu import Gpu as Gpu
    from dp2emu.gpu import SurfaceDesc as SurfaceDesc
    from dp2emu.gpu import SurfaceKind as SurfaceKind
    from dp2emu.gpu import Timing as Timing
    from dp2emu.gpu import by_work as by_work
    from dp2emu.gpu import fixed as fixed
    from dp2emu.gpu import instant as instant
    from dp2emu.gpu import parse_timing as parse_timing
    from dp2emu.gpu import scripted as scripted
    from dp2emu.gpu import seeded as seeded
    from dp2emu.picture import Picture as Picture
    from dp2emu.picture import encode_png as encode_png
    from dp2emu.picture import take_picture as take_picture
    from dp2emu.replay import Pictures as Pictures
    from dp2emu.replay import Tally as Tally
    from dp2emu.rig import NativeDriver as NativeDriver
    from dp2emu.rig import PipeRig as PipeRig
    from dp2emu.rig import RecordedRig as RecordedRig
    from dp2emu.rig import Rig as Rig
    from dp2emu.rig import RigFailure as RigFailure
    from dp2emu.rig import open_rig as open_rig
    from dp2emu.runtime import CommandBuffer as CommandBuffer
    from dp2emu.runtime import Device9 as Device9
    from dp2emu.runtime import Query as Query
    from dp2emu.runtime import QueryState as QueryState
    from dp2emu.runtime import Refused as Refused
    from dp2emu.runtime import Responses as Responses
    from dp2emu.runtime import Session as Session
    from dp2emu.runtime import parse_responses as parse_responses
    from dp2emu.scenario import Scenario as Scenario
    from dp2emu.scenario import load_scenario as load_scenario
    from dp2emu.scene import play_scene as play_scene
    from dp2emu.scene import play_scene10 as play_scene10
    from dp2emu.taps import Taps as Taps
    from dp2emu.text import assemble as assemble
    from dp2emu.text import dump_text as dump_text
    from dp2emu.text import open_any as open_any

_HOMES = {
    "capture": ("Capture", "CaptureWriter", "open_capture"),
    "d3d": ("Format", "HResult", "PrimitiveType", "QueryType", "RenderState"),
    "ddi10": ("Adapter",),
    "diff": ("compare_images",),
    "dp2": ("Answer", "Call", "Driver", "Op", "Options"),
    "errors": (
        "CaptureError",
        "ContractError",
        "Disagreement",
        "Dp2Error",
        "Fault",
        "Malformed",
        "ResponseError",
        "SceneError",
        "ShaderError",
        "Unsupported",
        "UsageError",
    ),
    "gpu": (
        "Gpu",
        "SurfaceDesc",
        "SurfaceKind",
        "Timing",
        "by_work",
        "fixed",
        "instant",
        "parse_timing",
        "scripted",
        "seeded",
    ),
    "picture": ("Picture", "encode_png", "take_picture"),
    "replay": ("Pictures", "Tally"),
    "rig": ("NativeDriver", "PipeRig", "RecordedRig", "Rig", "RigFailure", "open_rig"),
    "runtime": (
        "CommandBuffer",
        "Device9",
        "Query",
        "QueryState",
        "Refused",
        "Responses",
        "Session",
        "parse_responses",
    ),
    "scenario": ("Scenario", "load_scenario"),
    "scene": ("play_scene", "play_scene10"),
    "taps": ("Taps",),
    "text": ("assemble", "dump_text", "open_any"),
}
"""Names by module, which are imported when they are asked for."""

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # where types are checked, a name that is not there is an error
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
