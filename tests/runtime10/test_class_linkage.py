"""Class linkage of an application: classes and instances by name."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from dp2emu.runtime10 import BindFlag, Device, Format, Refused, Result, ViewDesc
from dp2emu.shader.sm4 import pack
from dp2emu.shader.sm4.container import Chunk
from tests.ddi10.shaders.test_class_linkage import program
from tests.runtime10.making import COMPUTE, buffer, code, constants, data_of, device
from tests.shader.engines import ENGINES

NAMES = b"cOne\0cTwo\0g_two\0"
TYPES_AT, INSTANCES_AT = 28, 28 + 2 * 12
SLOTS_AT = INSTANCES_AT + 16
LISTS_AT = SLOTS_AT + 16
NAMES_AT = LISTS_AT + 4 + 8


def interfaces() -> bytes:
    """Chunk IFCE: classes cOne and cTwo with tables 0 and 1 of interface 0, instance g_two whose
    data are from vector 1 of constant buffer 2 on.
    """
    return b"".join(
        (
            struct.pack("<7I", 1, 2, 1, 1, LISTS_AT, TYPES_AT, SLOTS_AT),
            struct.pack("<I4H", NAMES_AT, 0, 16, 0, 0),
            struct.pack("<I4H", NAMES_AT + 5, 1, 16, 0, 0),
            struct.pack("<I6H", NAMES_AT + 10, 1, 1, 2, 1, 0xFFFF, 0xFFFF),
            struct.pack("<4I", 1, 2, LISTS_AT, LISTS_AT + 4),
            struct.pack("<2H2I", 0, 1, 0, 1),
            NAMES,
        )
    )


def container() -> bytes:
    return pack([Chunk("IFCE", interfaces()), Chunk("SHEX", program())])


def computing(run: str = "") -> tuple[Device, Any, Any, Any]:
    """A device, a linkage, a shader with an interface, and the buffer that it writes."""
    dev = device(run=run)
    linkage = dev.create_class_linkage()
    shader = dev.create_compute_shader(container(), linkage)
    raw = buffer(dev, 16, BindFlag.UNORDERED_ACCESS, MiscFlags=0x20)
    view = dev.create_unordered_access_view(raw, ViewDesc(Format.R32_TYPELESS, flags=1))
    dev.context.cs_set_unordered_access_views(0, [view])
    dev.context.cs_set_constant_buffers(2, [constants(dev, struct.pack("<16I", *range(16)))])
    return dev, linkage, shader, raw


@pytest.mark.parametrize("run", ENGINES)
def test_instances_choose_functions_and_data(run: str) -> None:
    dev, linkage, shader, raw = computing(run)
    found = []
    named = linkage.get_class_instance("g_two")
    made = linkage.create_class_instance("cOne", 2, 3)
    for instance in (named, made):
        dev.context.cs_set_shader(shader, [instance])
        dev.context.dispatch(1, 1, 1)
        found.append(struct.unpack("4I", data_of(dev, raw)))
    assert found == [(16, 18, 20, 22), (13, 14, 15, 16)]
    assert (named.desc.Created, made.desc.Created, named.type_name) == (0, 1, "cTwo")
    assert named.get_class_linkage() is linkage


def test_instances_are_state_of_a_context() -> None:
    dev, linkage, shader, _ = computing()
    instance = linkage.get_class_instance("g_two")
    dev.context.cs_set_shader(shader, [instance])
    assert dev.context.cs_get_class_instances() == [instance]
    assert dev.context.cs_get_shader() is shader
    deferred = dev.create_deferred_context()
    deferred.cs_set_shader(shader, [instance])
    commands = deferred.finish_command_list(True)
    assert deferred.cs_get_class_instances() == [instance]
    dev.context.execute_command_list(commands, True)
    assert dev.context.cs_get_class_instances() == [instance]
    assert not dev.context.messages
    dev.context.clear_state()
    assert (dev.context.cs_get_shader(), dev.context.cs_get_class_instances()) == (None, [])


def test_a_command_list_binds_its_instances() -> None:
    dev, linkage, shader, raw = computing()
    view = dev.context.cs_get_unordered_access_views(0, 1)
    bound = dev.context.cs_get_constant_buffers(2, 1)
    deferred = dev.create_deferred_context()
    deferred.cs_set_shader(shader, [linkage.get_class_instance("g_two")])
    deferred.cs_set_unordered_access_views(0, view)
    deferred.cs_set_constant_buffers(2, bound)
    deferred.dispatch(1, 1, 1)
    dev.context.execute_command_list(deferred.finish_command_list(False), False)
    assert struct.unpack("4I", data_of(dev, raw)) == (16, 18, 20, 22)


def test_instances_that_do_not_fit_have_no_effect() -> None:
    dev, linkage, shader, _ = computing()
    other = device().create_class_linkage()
    plain = dev.create_compute_shader(pack([Chunk("SHEX", code(COMPUTE))]))
    given: list[tuple[Any, list[Any]]] = [
        (shader, []),
        (shader, [None]),
        (shader, [linkage.get_class_instance("g_two")] * 2),
        (plain, [linkage.get_class_instance("g_two")]),
        (None, [linkage.get_class_instance("g_two")]),
    ]
    for bound, instances in given:
        dev.context.cs_set_shader(bound, instances)
        assert dev.context.cs_get_shader() is None
    assert len(dev.context.messages) == len(given)
    for ask in (other.get_class_instance, other.create_class_instance):
        with pytest.raises(Refused) as caught:
            ask("cOne")
        assert caught.value.hr == Result.E_INVALIDARG


def test_an_instance_keeps_its_linkage() -> None:
    dev, linkage, _, _ = computing()
    instance = linkage.get_class_instance("g_two")
    linkage.release()
    assert linkage.users == 1
    instance.release()
    assert linkage.users == 0
    dev.close()
