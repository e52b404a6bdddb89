"""Objects that hold the state of a context."""

from __future__ import annotations

import pytest

from dp2emu.errors import Unsupported
from dp2emu.runtime10 import FeatureLevel, Refused
from tests.runtime10.making import buffer, device, target


def test_a_context_gets_the_state_that_an_object_has_kept() -> None:
    dev = device(checking=True)
    view, vertices = target(dev), buffer(dev)
    dev.context.om_set_render_targets([view])
    dev.context.ia_set_vertex_buffers(0, [vertices], [8], [4])
    dev.context.ia_set_primitive_topology(4)
    other, level = dev.create_device_context_state(1, [FeatureLevel.LEVEL_11_0])
    assert level == FeatureLevel.LEVEL_11_0
    first = dev.context.swap_device_context_state(other)
    assert dev.context.om_get_render_targets(1) == ([None], None)
    assert dev.context.ia_get_primitive_topology() == 0
    dev.context.ia_set_primitive_topology(5)
    assert dev.context.swap_device_context_state(first) is other
    assert dev.context.om_get_render_targets(1) == ([view], None)
    assert dev.context.ia_get_vertex_buffers(0, 1) == [(vertices, 8, 4)]
    assert dev.context.ia_get_primitive_topology() == 4
    dev.context.swap_device_context_state(other)
    assert dev.context.ia_get_primitive_topology() == 5
    assert not dev.context.messages


def test_a_kept_state_keeps_its_objects_alive() -> None:
    dev = device(checking=True)
    vertices = buffer(dev)
    dev.context.ia_set_vertex_buffers(0, [vertices], [8], [0])
    other, _ = dev.create_device_context_state()
    first = dev.context.swap_device_context_state(other)
    vertices.release()
    assert vertices.users == 1
    dev.context.swap_device_context_state(first)
    assert dev.context.ia_get_vertex_buffers(0, 1) == [(vertices, 8, 0)]
    vertices.release()
    dev.context.swap_device_context_state(other)
    while first.references:
        first.release()
    assert vertices.users == 0
    dev.close()


def test_the_state_that_is_current_stays() -> None:
    dev = device(checking=True)
    other, _ = dev.create_device_context_state()
    dev.context.swap_device_context_state(other)
    dev.context.ia_set_primitive_topology(5)
    assert dev.context.swap_device_context_state(other) is other
    assert dev.context.ia_get_primitive_topology() == 5
    assert other.references == 2


def test_deferred_contexts_keep_their_state() -> None:
    dev = device()
    deferred = dev.create_deferred_context()
    deferred.ia_set_primitive_topology(4)
    deferred.swap_device_context_state(dev.create_device_context_state()[0])
    assert deferred.ia_get_primitive_topology() == 4
    assert "deferred" in deferred.messages[0]


def test_states_of_another_device_flags_and_levels_are_refused() -> None:
    dev = device()
    with pytest.raises(Refused, match="another device"):
        dev.context.swap_device_context_state(device().create_device_context_state()[0])
    for flags, levels in ((2, [0xB000]), (0, []), (0, [0xB100])):
        with pytest.raises(Refused):
            dev.create_device_context_state(flags, levels)
    assert dev.create_device_context_state(0, [0xB100, 0xB000])[1] == 0xB000
    with pytest.raises(Unsupported, match="below the feature level"):
        dev.create_device_context_state(0, [0xA000])
