"""Facts that tokens and calls of the DDI set, whether or not their values change."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path as File

import pytest

from dp2emu.capture.records import (
    Called,
    ContextCreated,
    ContextDestroyed,
    EntryCalled,
    Record,
    SurfaceCreated,
)
from dp2emu.capture.values import Memory, Structure
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, RenderState
from dp2emu.d3d.legacy import RenderState7
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts
from dp2emu.explain import setters
from dp2emu.explain.setters import LastSetters, Setter
from dp2emu.explain.state import changes
from dp2emu.explain.state_writes import Path, Paths, written_by
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.replay import Watcher
from dp2emu.replay.document import Document
from dp2emu.replay.player import Player
from tests.explain.opening import REAL, STREAMS, opened
from tests.explain.test_state import compared
from tests.replay.authoring import BEGIN, OCCLUSION, SETTING, called, create, issue, token


def _floats(op: Op, *words: float) -> bytes:
    """A token of one item: DWORDs, and floats where a number is a float."""
    forms = "".join("f" if isinstance(each, float) else "I" for each in words)
    return struct.pack(f"<BBH{forms}", op, 0, 1, *words)


def _shader(op: Op, handle: int, version: int) -> bytes:
    return struct.pack("<BBHIIII", op, 0, 1, handle, 8, version, 0xFFFF)


def _constant(op: Op, *words: float) -> bytes:
    return _floats(op, 1, 1, *words)


PALETTED, DEPTH, OTHER = 7, 8, 9

OBJECTS: tuple[Record, ...] = (
    *SETTING,
    SurfaceCreated(SurfaceDesc(5, SurfaceKind.VERTEXBUFFER, 64)),
    SurfaceCreated(SurfaceDesc(6, SurfaceKind.INDEXBUFFER, 64)),
    SurfaceCreated(SurfaceDesc(PALETTED, SurfaceKind.TEXTURE, 4, 4, format=Format.P8)),
    SurfaceCreated(SurfaceDesc(DEPTH, SurfaceKind.SURFACE, 8, 4, format=Format.D24S8)),
    SurfaceCreated(SurfaceDesc(OTHER, SurfaceKind.SURFACE, 4, 4, format=Format.X8R8G8B8)),
    called(
        _shader(Op.CREATEVERTEXSHADERFUNC, 3, 0xFFFE0200),
        _shader(Op.CREATEPIXELSHADER, 4, 0xFFFF0200),
        struct.pack("<BBHIIHHBBBB", Op.CREATEVERTEXSHADERDECL, 0, 1, 5, 1, 0, 0, 3, 0, 9, 0),
        token(Op.STATESET, (0, 9, 0)),
        token(Op.RENDERSTATE, (RenderState.FOGCOLOR, 77)),
        token(Op.STATESET, (1, 9, 0)),
        create(1, OCCLUSION),
    ),
)  # fmt: skip
"""Objects that tokens name."""

SETTING_TOKENS = {
    "render state": token(Op.RENDERSTATE, (RenderState.ZFUNC, 5)),
    "stage state": token(Op.TEXTURESTAGESTATE, (1 << 16 | 0, 2)),
    "address of DirectX 5": token(Op.TEXTURESTAGESTATE, (12 << 16 | 0, 3)),
    "viewport": token(Op.VIEWPORTINFO, (1, 1, 4, 2)),
    "depth range": _floats(Op.ZRANGE, 0.25, 0.5),
    "w range": _floats(Op.WINFO, 0.25, 0.5),
    "scissor": token(Op.SETSCISSORRECT, (1, 1, 2, 2)),
    "transform": _floats(Op.SETTRANSFORM, 2, *(2.0,) * 16),
    "product": _floats(Op.MULTIPLYTRANSFORM, 3, *(0.0,) * 16),
    "material": _floats(Op.SETMATERIAL, *(0.5,) * 17),
    "light": _floats(Op.CREATELIGHT, 2) + token(Op.SETLIGHT, (2, 1)),
    "plane": _floats(Op.SETCLIPPLANE, 1, 1.0, 0.0, 0.0, 0.0),
    "target": token(Op.SETRENDERTARGET, (OTHER, 0)),
    "target 1": token(Op.SETRENDERTARGET2, (1, OTHER)),
    "depth": token(Op.SETDEPTHSTENCIL, (DEPTH,)),
    "stream": token(Op.SETSTREAMSOURCE, (0, 5, 12)),
    "stream with offset": token(Op.SETSTREAMSOURCE2, (1, 5, 4, 12)),
    "user stream": token(Op.SETSTREAMSOURCEUM, (0, 12)),
    "frequency": token(Op.SETSTREAMSOURCEFREQ, (0, 1 << 30 | 2)),
    "indices": token(Op.SETINDICES, (6, 2)),
    "format": token(Op.SETVERTEXSHADER, (0x44,)),
    "declaration": token(Op.SETVERTEXSHADERDECL, (5,)),
    "vertex shader": token(Op.SETVERTEXSHADERFUNC, (3,)),
    "pixel shader": token(Op.SETPIXELSHADER, (4,)),
    "vertex constants": _constant(Op.SETVERTEXSHADERCONST, 1.0, 2.0, 3.0, 4.0),
    "vertex integers": _constant(Op.SETVERTEXSHADERCONSTI, 1, 2, 3, 4),
    "vertex booleans": _constant(Op.SETVERTEXSHADERCONSTB, 1),
    "pixel constants": _constant(Op.SETPIXELSHADERCONST, 1.0, 2.0, 3.0, 4.0),
    "pixel integers": _constant(Op.SETPIXELSHADERCONSTI, 1, 2, 3, 4),
    "pixel booleans": _constant(Op.SETPIXELSHADERCONSTB, 1),
    "palette": token(Op.SETPALETTE, (1, 1, PALETTED)),
    "palette entries": struct.pack("<BBHIHHI", Op.UPDATEPALETTE, 0, 1, 1, 3, 1, 255),
    "level": token(Op.SETTEXLOD, (PALETTED, 1)),
    "priority": token(Op.SETPRIORITY, (PALETTED, 9)),
    "kernel": _floats(Op.SETCONVOLUTIONKERNELMONO, 1, 1, 1, 0.5, 0.5),
    "state block": token(Op.STATESET, (3, 9, 0)),
    "query": issue(1, BEGIN),
}  # fmt: skip


def _among(paths: Iterable[Path], written: Iterable[Path]) -> set[Path]:
    """The paths that belong to those written."""
    known = Paths()
    for path in written:
        known.add(path)
    return {path for path in paths if path in known}


@pytest.mark.parametrize("name", SETTING_TOKENS)
def test_each_token_that_sets_state_is_named_when_it_sets_the_same_again(name: str) -> None:
    once = SETTING_TOKENS[name]
    records = *OBJECTS, called(once), called(once), called()
    before, after, found = compared("1:0", "3", *records)
    differing = [change.path for change in changes(before, after)]
    assert differing
    assert {found.changed[path].address.split(":")[0] for path in differing} == {"1"}
    assert {found.last[path].address.split(":")[0] for path in differing} == {"2"}
    _, _, found = compared("2:0", "3", *records)
    assert set(differing) <= _among(differing, found.written)


def test_a_render_state_of_directx_5_sets_states_of_stage_0() -> None:
    linear = token(Op.RENDERSTATE, (RenderState7.TEXTUREMAG, 2))
    records = *SETTING[:-1], ContextCreated(1, 6, 2), called(linear), called(linear)
    before, after, found = compared("0:0", "1", *records)
    path = "stages", "0", "D3DTSS_MAGFILTER"
    assert path in {change.path for change in changes(before, after)}
    assert (found.changed[path].address, found.last[path].address) == ("0:0", "1:0")


def test_a_token_that_is_recorded_or_refused_sets_nothing() -> None:
    color = token(Op.RENDERSTATE, (RenderState.FOGCOLOR, 0))
    bad = token(Op.SETVERTEXSHADERFUNC, (99,))
    begin, end = token(Op.STATESET, (0, 9, 0)), token(Op.STATESET, (1, 9, 0))
    _, _, found = compared("0:0", "2", *SETTING, called(begin, color, end), called(bad), called())
    assert found.written == {}


def test_a_new_context_has_nothing_set() -> None:
    color = token(Op.RENDERSTATE, (RenderState.FOGCOLOR, 0))
    again = ContextDestroyed(1), ContextCreated(1, 9, 2)
    _, _, found = compared("0:0", "1", *SETTING, called(color), *again, called(color, color))
    assert [setter.address for setter in found.written.values()] == ["1:1"]


def test_each_function_of_direct3d_11_that_binds_is_named_when_it_binds_the_same_again() -> None:
    (path,) = (path for path in REAL if path.stem == "sokol_texcube")
    with opened(path) as capture:
        records = [*_twice(capture.records())]
    calls = [record for record in records if isinstance(record, EntryCalled)]
    draws = [number for number, call in enumerate(calls) if call.entry.startswith("Draw")]
    first = next(number for number, call in enumerate(calls) if call.entry == "IaSetTopology") - 1
    *_, found = compared(str(first), str(draws[:3][-1]), *records)
    named = {
        path: setter for path, setter in found.changed.items()
        if path[0] != "resources" and any(written_by(calls[int(setter.address)]))
    }  # fmt: skip
    assert len({setter.name for setter in named.values()}) > 7
    for path, setter in named.items():
        assert int(found.last[path].address) > int(setter.address)


def _twice(records: Iterable[Record]) -> Iterator[Record]:
    """The records, with each call that binds state a second time."""
    for record in records:
        yield record
        if isinstance(record, EntryCalled) and any(written_by(record)):
            yield record


def _entry(name: str, *arguments: object, **more: object) -> EntryCalled:
    return EntryCalled(1, 110, name, arguments, **more)  # type: ignore[arg-type]


def test_a_call_binds_the_slots_that_its_arguments_name() -> None:
    handles = Memory(1, 4), None
    for name, key in (
        ("PsSetShaderResources", "PSSetShaderResources"),
        ("IaSetVertexBuffers", "IASetVertexBuffers"),
        ("CsSetUnorderedAccessViews", "CSSetUnorderedAccessViews"),
    ):
        assert [*written_by(_entry(name, 3, handles))] == [(key, "3"), (key, "4")]
        assert [*written_by(_entry(name, 3))] == [*written_by(_entry(name, "x", "y"))] == []
    assert [*written_by(_entry("GsSetShaderWithIfaces", None, (), ()))] == [("GSSetShader",)]
    failed = _entry("SetViewports", 0, (), result=Structure("Raised", ("ContractError",)))
    assert [*written_by(failed)] == [*written_by(_entry("Draw", 3, 0))] == []


OF_OBJECTS = {"patches", "state_blocks", "resources"}
"""Groups of facts that tell which objects there are."""


@pytest.mark.parametrize(
    "path",
    [*STREAMS, *(path for path in REAL if "sdl" not in path.stem)],
    ids=lambda path: path.stem,
)
def test_every_fact_that_changes_is_noted_but_those_of_objects(path: File) -> None:
    missed: set[tuple[str, str]] = set()

    class Follower(setters._Follower):
        """Collects changes that are not noted."""

        old: Facts | None = None

        def _compare(self, place: setters.Place) -> None:
            facts = self._facts()
            for change in changes(self.old, facts) if self.old and facts else ():
                group = change.path[0]
                answered = group == "queries" and place[1] == setters._BEHIND
                if change.path not in self._noted and group not in OF_OBJECTS and not answered:
                    missed.add((group, self._setter.name))
            self.old = facts
            self._noted.clear()

    with opened(path) as capture:
        records = [*capture.records()]
    owner = next(
        {"context": each.call.dwhContext} if isinstance(each, Called) else {"device": each.device}
        for each in records
        if isinstance(each, Called) or (isinstance(each, EntryCalled) and each.device)
    )
    driver = Driver()
    with Document(None) as page:
        player = Player(driver, None, page, Watcher(), Options())
        follower = Follower(player, driver, (setters._BEGIN, (1 << 40, 0)), owner, {})
        driver.command_taps.append(follower.tap)
        for record in records:
            follower.perform(record)
    assert missed - {("lights", "CREATELIGHT")} == set()


def test_a_fact_is_set_by_what_set_it_or_a_group_with_it_or_a_part_of_it_last() -> None:
    one, two, three = (Setter(f"0:{number}", "TOKEN") for number in range(3))
    last = LastSetters({("a", "b", "c"): one, ("a",): two, ("d", "e"): three})
    paths = ("a", "b", "c"), ("a", "b"), ("a", "x"), ("d",), ("d", "e", "f"), ("e",)
    assert [last.of(path) for path in paths] == [two, two, two, three, three, None]
    assert LastSetters({("a",): one, ("a", "b"): two}).of(("a", "b")) == two
