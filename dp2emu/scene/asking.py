"""Scene commands that ask something: query results, and values of the interface."""

from __future__ import annotations

from math import isfinite
from typing import Any

from dp2emu.d3d.enums import QueryType, RenderState, SamplerState, TextureStageState
from dp2emu.d3d.flags import Issue
from dp2emu.d3d.formats import COLOR, DEPTH
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.capabilities import capabilities
from dp2emu.errors import SceneError
from dp2emu.gpu.resource.heap import SAMPLE_COUNTS, SurfaceKind
from dp2emu.runtime import QueryData, Refused
from dp2emu.runtime.availability import check_format
from dp2emu.scene.fields import Fields
from dp2emu.scene.ops import LABEL, op
from dp2emu.scene.player import Player, hr_text
from dp2emu.scene.values import dword, member, surface_format, text, truth, whole

_BUFFER = whole(0, 1 << 16)
"""Bytes a GetData buffer may have."""
_FLAGS = {"BEGIN": Issue.BEGIN, "END": Issue.END}


def _answer(player: Player, label: str, name: str, result: QueryData | None) -> None:
    """Add an entry to ``queries``; ``result`` is None if the query could not be created."""
    data = result.data if result is not None else None
    player.results.queries[label] = {
        "query": name,
        "hr": hr_text(result.hr) if result is not None else None,
        "value": result.value if result is not None else None,
        "size": len(data) if data is not None else 0,
        "data_hex": data.hex() if data is not None else None,
    }


def _value(player: Player, fields: Fields, hr: int = HResult.S_OK, **content: Any) -> None:
    """Add an entry to ``values``."""
    label = fields.take("label", LABEL)
    player.results.values[label] = {"hr": hr_text(hr), **content}


@op("issue")
def _issue(player: Player, fields: Fields) -> None:
    name, query = fields.take("id", player.query)
    word = str(fields.take("flag", text)).lower()
    flags = fields.take("flag", _issue_flags)
    label = fields.take("label", LABEL, f"{name}.{word}.{player.index}")
    if query is not None:
        query.issue(flags)
        player.results.issues[label] = hr_text(HResult.S_OK)


def _issue_flags(value: object) -> Issue:
    flags = Issue(0)
    for name in text(value).split("|"):
        if name not in _FLAGS:
            raise SceneError(f"{name!r} is neither BEGIN nor END")
        flags |= _FLAGS[name]
    return flags


@op("getdata")
def _get_data(player: Player, fields: Fields) -> None:
    fields.ignore("varies", "informative")
    name, query = fields.take("id", player.query)
    label = fields.take("label", LABEL)
    size = fields.take("size", _BUFFER, None)
    flush = fields.take("flush", truth, False)
    _answer(player, label, name, query.get_data(size, flush=flush) if query else None)


@op("wait")
def _wait(player: Player, fields: Fields) -> None:
    fields.ignore("varies", "informative")
    name, query = fields.take("id", player.query)
    label = fields.take("label", LABEL)
    size = fields.take("size", _BUFFER, None)
    _answer(player, label, name, query.wait(size) if query else None)


@op("querysupport")
def _query_support(player: Player, fields: Fields) -> None:
    """CreateQuery without a place for the query: of one type, or of all by name."""
    announced = player.device.query_types()
    if "query" not in fields:
        _value(player, fields, value={kind.name: int(kind in announced) for kind in QueryType})
        return
    there = fields.take("query", member(QueryType)) in announced
    hr = HResult.S_OK if there else HResult.D3DERR_NOTAVAILABLE
    _value(player, fields, hr, value=int(there))


@op("checkfmt")
def _check_format(player: Player, fields: Fields) -> None:
    """CheckDeviceFormat: its result is the value."""
    usage = fields.take("usage", dword, 0)
    kind = fields.take("rtype", _resource_type)
    format = fields.take("format", surface_format)
    _value(player, fields, value=int(check_format(usage, kind, format)))


def _resource_type(value: object) -> SurfaceKind:
    name = text(value)
    if name == SurfaceKind.MEMORY.name or name not in SurfaceKind.__members__:
        raise SceneError(f"{name!r} is no resource type")
    return SurfaceKind[name]


@op("checkms")
def _check_multisample(player: Player, fields: Fields) -> None:
    """CheckDeviceMultiSampleType: the value is the number of quality levels."""
    format = fields.take("format", surface_format)
    samples = max(fields.take("samples", whole(0, 16)), 1)
    drawn = format in COLOR or format in DEPTH
    supported = samples == 1 or (samples in SAMPLE_COUNTS and drawn)
    hr = HResult.D3D_OK if supported else HResult.D3DERR_NOTAVAILABLE
    _value(player, fields, hr, value=int(supported))


@op("getrs")
def _get_render_state(player: Player, fields: Fields) -> None:
    state = fields.take("state", member(RenderState))
    _value(player, fields, value=player.device.render_state(state))


@op("gettss")
def _get_stage_state(player: Player, fields: Fields) -> None:
    stage = fields.take("stage", whole(0, 7))
    state = fields.take("state", member(TextureStageState))
    _value(player, fields, value=player.device.texture_stage_state(stage, state))


@op("getss")
def _get_sampler_state(player: Player, fields: Fields) -> None:
    sampler = fields.take("sampler", whole(0, 260))
    state = fields.take("state", member(SamplerState))
    _value(player, fields, value=player.device.sampler_state(sampler, state))


@op("getviewport")
def _get_viewport(player: Player, fields: Fields) -> None:
    view = player.device.viewport
    # JSON has no infinities, and a viewport may.
    depth = [z if isfinite(z) else str(z) for z in (view.min_z, view.max_z)]
    _value(player, fields, viewport=[view.x, view.y, view.width, view.height, *depth])


@op("getscissor")
def _get_scissor(player: Player, fields: Fields) -> None:
    box = player.device.scissor
    _value(player, fields, rect=[box.left, box.top, box.right, box.bottom])


@op("validate")
def _validate(player: Player, fields: Fields) -> None:
    """ValidateDevice: the value is the number of passes."""
    try:
        passes = player.device.validate_device()
    except Refused as refusal:
        _value(player, fields, refusal.hr, value=0)
    else:
        _value(player, fields, value=passes)


@op("adapter")
def _adapter(player: Player, fields: Fields) -> None:
    """GetAdapterIdentifier: there is no board to name."""
    fields.ignore_others()
    _value(player, fields, value={"Driver": "dp2emu", "Description": "dp2emu"})


@op("caps")
def _capabilities(player: Player, fields: Fields) -> None:
    """GetDeviceCaps: the value has the members of D3DCAPS9."""
    fields.ignore_others()
    _value(player, fields, value=capabilities())
