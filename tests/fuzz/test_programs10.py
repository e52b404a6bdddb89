"""Programs of API calls of Direct3D 10 and 11: what the target tries, and that it notices bugs."""

from __future__ import annotations

import inspect
from enum import Enum
from pathlib import Path
from random import Random

import pytest

from dp2emu import runtime10
from dp2emu.capture.records import EntryCalled
from dp2emu.errors import ContractError
from dp2emu.fuzz import programs10
from dp2emu.fuzz.campaign import Plan, campaign
from dp2emu.fuzz.programs10 import CALL, HEAD, LEFT_OUT, methods, records, seed, trial
from dp2emu.fuzz.target import Broken
from dp2emu.runtime10 import dxgi
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.objects import DeviceChild

EMPTY, PREPARED = b"\0\0", b"\x08\0"
"""Heads of programs of Direct3D 11: without objects, and with those that draws need."""


def calls(name: str, count: int) -> bytes:
    """Calls of a method with a number of different arguments."""
    number = next(n for n, method in enumerate(methods()) if method.name == name)
    return b"".join(number.to_bytes(2, "little") + bytes((n,) * 6) for n in range(1, count + 1))


def outcomes(head: bytes, name: str, count: int = 20) -> set[object]:
    """How calls of a method end."""
    seen = trial(head + calls(name, count))
    assert isinstance(seen, frozenset)
    return {outcome for _, method, outcome in seen if method == name}


def broken(head: bytes, name: str) -> str:
    with pytest.raises(Broken) as caught:
        trial(head + calls(name, 20))
    return str(caught.value)


def test_programs_call_every_method_of_the_api() -> None:
    names = {(method.kind.__name__, method.name) for method in methods()}
    assert names >= {
        ("Device", "create_buffer"), ("Device", "create_deferred_context"),
        ("ImmediateContext", "execute_command_list"), ("DeferredContext", "finish_command_list"),
        ("ImmediateContext", "vs_set_constant_buffers"), ("SwapChain", "resize_buffers"),
        ("Query", "get_data_size"), ("Texture2D", "set_private_data"),
        ("Factory", "create_swap_chain"), ("DxgiAdapter", "enum_outputs"),
        ("Output", "get_display_mode_list"), ("Surface", "map"),
        ("DxgiDevice", "create_surface"), ("ClassLinkage", "create_class_instance"),
        ("Functions", "create_device_and_swap_chain"),
    }  # fmt: skip
    assert ("Device", "discard") not in names


LAYER_BELOW = {"DriverDevice", "Handle", "Query", "Resource", "Shader", "Code"}
"""Public classes that are no interfaces of the API: they call a driver, or read a shader."""


def classes() -> set[type]:
    """The public classes of the runtime and of its DXGI that have methods."""
    public = {name: getattr(runtime10, name) for name in runtime10.__all__}
    public |= {name: getattr(dxgi, name) for name in dxgi.__all__}
    kinds = (kind for name, kind in public.items() if name not in LAYER_BELOW)
    plain = tuple, Enum, Exception
    return {kind for kind in kinds if isinstance(kind, type) and not issubclass(kind, plain)}


def test_every_public_method_is_called_or_left_out_with_a_reason() -> None:
    called = {(method.kind, method.name) for method in methods()}
    reasons = {(kind, name) for kind, names in LEFT_OUT.items() for name in names}
    for kind in classes():
        heirs = [each for each, _ in called if issubclass(each, kind)]
        for name, _ in inspect.getmembers(kind, inspect.isfunction):
            left_out = any((each, name) in reasons for each in kind.__mro__)
            reached = any((heir, name) in called for heir in heirs)
            assert name.startswith("_") or reached != left_out, (kind, name)


def test_methods_that_are_left_out_exist() -> None:
    missing = [(kind, name) for kind, names in LEFT_OUT.items() for name in names
               if not callable(getattr(kind, name, None))]  # fmt: skip
    assert not missing


@pytest.mark.slow
def test_a_prepared_program_reaches_every_method() -> None:
    known, seen, rng = methods(), set(), Random(0)
    for head in (b"\x08", b"\x0b") * 5:
        chosen = rng.sample(range(len(known)), len(known))
        for start in range(0, len(known), 16):
            made = (number.to_bytes(2, "little") for number in chosen[start : start + 16])
            program = b"".join(number + rng.randbytes(6) for number in made)
            reached = trial(head + rng.randbytes(1) + program)
            assert isinstance(reached, frozenset)
            seen |= {(kind, name) for kind, name, _ in reached}
    assert sorted({(each.kind.__name__, each.name) for each in known} - seen) == []


def test_calls_return_and_are_refused() -> None:
    assert {"returned", "refused 0x80070057"} <= outcomes(EMPTY, "create_texture2d", 40)
    assert {"returned", "ignored"} <= outcomes(PREPARED, "draw", 40)


def test_a_program_is_a_capture_of_the_drivers_calls() -> None:
    made = records(PREPARED + calls("draw", 3))
    names = [each.entry for each in made if isinstance(each, EntryCalled)]
    assert names[-1] == "DestroyDevice"
    assert {"CreateResource", "SetRenderTargets", "Draw"} <= {*names}


def test_both_engines_replay_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    replayed: list[str] = []

    def played(made: object, name: str) -> list[bytes]:
        replayed.append(name)
        return [name.encode()]

    monkeypatch.setattr(programs10, "_is_replayed", lambda data: True)
    monkeypatch.setattr(programs10, "_replayed", played)
    with pytest.raises(Broken, match="different bytes"):
        trial(PREPARED)
    assert replayed == ["reference", "jit"]


def test_a_replay_has_the_bytes_of_each_resource() -> None:
    found = programs10._replayed(records(PREPARED), "reference")
    assert not found  # the program has released them
    before = [each for each in records(PREPARED) if getattr(each, "entry", "")[:7] != "Destroy"]
    assert len(programs10._replayed(before, "reference")) >= 8


def test_another_value_than_the_one_that_was_set_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Context, "ia_get_primitive_topology", lambda self: 77)
    assert "ia_set_primitive_topology" in broken(EMPTY, "ia_set_primitive_topology")


def test_objects_that_stay_in_use_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeviceChild, "drop", lambda self: None)
    assert "is used after all objects were released" in broken(PREPARED, "draw_auto")


def test_a_broken_contract_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def create(self: Device, desc: object) -> None:
        raise ContractError("CreateQuery", "KNOWN_TYPE", "no such type")

    monkeypatch.setattr(Device, "create_query", create)
    assert "breaks the driver's contract: KNOWN_TYPE" in broken(EMPTY, "create_query")


def test_mutations_keep_the_length_of_calls() -> None:
    rng = Random(3)
    one, other = seed(rng), seed(rng)
    made = [programs10.mutate(rng, one, other) for _ in range(50)]
    assert sum(len(each) % CALL == HEAD for each in made) > len(made) // 2


@pytest.mark.slow
def test_many_programs_end(tmp_path: Path) -> None:
    assert campaign("programs10", Plan(tmp_path, 10_000, timeout=60.0)).findings == ()
