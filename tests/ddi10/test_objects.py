"""Objects in memory of the caller."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.states.state_objects import BlendDesc1
from dp2emu.errors import ContractError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.limits import Limits
from tests.ddi10.driving import REMOVED
from tests.ddi10.rendering import NO_CULL, Rendering


def broken(driven: Rendering, entry: str, *arguments: object) -> str:
    with pytest.raises(ContractError) as error:
        driven.call(entry, *arguments)
    return error.value.rule


def test_an_object_lives_in_memory_of_the_size_that_was_asked_for() -> None:
    driven = Rendering(checking=False)
    memory = bytearray(driven.memory_of("BlendState") + b"!")
    assert broken(driven, "CreateBlendState", BlendDesc1(), memory) == "OBJECT_SIZE"
    assert broken(driven, "CreateBlendState", BlendDesc1(), memory[:-2]) == "OBJECT_SIZE"


def test_memory_holds_one_object_at_a_time() -> None:
    driven = Rendering(checking=False)
    memory = driven.make("BlendState", BlendDesc1())
    assert broken(driven, "CreateBlendState", BlendDesc1(), memory) == "FRESH_OBJECT"
    driven.call("DestroyBlendState", memory)
    assert driven.call("CreateBlendState", BlendDesc1(), memory) == []


def test_what_is_destroyed_is_no_object_any_more() -> None:
    driven = Rendering(checking=False)
    memory = driven.make("BlendState", BlendDesc1())
    assert driven.call("DestroyBlendState", memory) == []
    before = bytes(memory)
    assert broken(driven, "DestroyBlendState", memory) == "LIVE_OBJECT"
    assert broken(driven, "SetBlendState", memory, (1,) * 4, 1) == "LIVE_OBJECT"
    assert memory == before


def test_destroying_puts_nothing_out() -> None:
    driven = Rendering()
    memory, resource = driven.make("BlendState", BlendDesc1()), driven.buffer(bytes(4))
    functions = driven.device.functions
    assert functions["DestroyBlendState"](memory) is None
    assert functions["DestroyResource"](resource) is None


def test_objects_are_of_their_kind_and_their_device() -> None:
    driven = Rendering(checking=False)
    memory = driven.make("BlendState", BlendDesc1())
    assert broken(driven, "SetRasterizerState", memory) == "LIVE_OBJECT"
    other = Rendering(adapter=driven.adapter)
    other.make("BlendState", BlendDesc1())
    assert broken(other, "SetBlendState", memory, (1,) * 4, 1) == "LIVE_OBJECT"


def test_a_copy_of_the_memory_is_no_object() -> None:
    driven = Rendering(checking=False)
    memory = driven.make("BlendState", BlendDesc1())
    assert broken(driven, "SetBlendState", bytearray(memory), (1,) * 4, 1) == "LIVE_OBJECT"


def test_objects_of_a_kind_beyond_the_limit_are_out_of_memory() -> None:
    driven = Rendering(adapter=Adapter(Gpu(limits=Limits(objects=2))))
    driven.make("BlendState", BlendDesc1())
    driven.make("BlendState", BlendDesc1())
    memory = driven.memory_of("BlendState")
    before = bytes(memory)
    assert driven.call("CreateBlendState", BlendDesc1(), memory) == [DdiCode.E_OUTOFMEMORY]
    assert memory == before
    assert driven.make("RasterizerState", NO_CULL)


def test_objects_are_destroyed_before_their_device() -> None:
    driven = Rendering()
    memory = driven.make("BlendState", BlendDesc1())
    assert broken(driven, "DestroyDevice") == "OBJECTS_LEFT"
    driven.call("DestroyBlendState", memory)
    assert driven.call("DestroyDevice") == []


def test_creating_reports_removal_and_destroying_does_not() -> None:
    driven = Rendering()
    memory, other = driven.make("BlendState", BlendDesc1()), driven.memory_of("BlendState")
    driven.adapter.remove()
    assert driven.call("CreateBlendState", BlendDesc1(), other) == REMOVED
    assert driven.call("SetBlendState", None, (1,) * 4, 1) == REMOVED
    assert driven.call("DestroyBlendState", memory) == []
