"""Deferred contexts and command lists."""

from __future__ import annotations

import pytest

from dp2emu.runtime10 import ContextType, Map, QueryDesc, QueryType, Refused, Result
from tests.runtime10.making import constants, data_of, device, dynamic, target, viewed

RED = b"\xff\0\0\xff"


def test_a_command_list_acts_when_it_is_executed() -> None:
    dev = device()
    view, deferred = target(dev, 1), dev.create_deferred_context()
    deferred.clear_render_target_view(view, (1, 0, 0, 1))
    commands = deferred.finish_command_list(False)
    assert data_of(dev, view.resource) == bytes(4)
    dev.context.execute_command_list(commands, False)
    assert data_of(dev, view.resource) == RED
    assert (deferred.get_type(), dev.context.get_type()) == tuple(ContextType)[::-1]


@pytest.mark.parametrize("restore", [False, True])
def test_state_of_a_deferred_context_is_kept_or_dropped(restore: bool) -> None:
    dev = device()
    bound, deferred = constants(dev), dev.create_deferred_context()
    deferred.ps_set_constant_buffers(2, [bound])
    deferred.finish_command_list(restore).release()
    assert deferred.ps_get_constant_buffers(2, 1) == [bound if restore else None]
    assert bool(bound.users) is restore


@pytest.mark.parametrize("restore", [False, True])
def test_state_of_the_immediate_context_is_kept_or_dropped(restore: bool) -> None:
    dev = device()
    bound, inner, deferred = constants(dev), viewed(dev), dev.create_deferred_context()
    dev.context.ps_set_constant_buffers1(2, [bound], [0], [16])
    deferred.ps_set_shader_resources(0, [inner])
    commands = deferred.finish_command_list(False)
    dev.context.execute_command_list(commands, restore)
    expected = (bound, 0, 16) if restore else (None, 0, 4096)
    assert dev.context.ps_get_constant_buffers1(2, 1) == [expected]
    assert dev.context.ps_get_shader_resources(0, 1) == [None]


def test_released_state_is_there_again_after_a_command_list() -> None:
    dev = device(checking=True)
    bound = constants(dev)
    dev.context.vs_set_constant_buffers(0, [bound])
    bound.release()
    commands = dev.create_deferred_context().finish_command_list(False)
    dev.context.execute_command_list(commands, True)
    assert dev.context.vs_get_constant_buffers(0, 1) == [bound]


def test_a_recording_keeps_its_objects_alive() -> None:
    dev = device(checking=True)
    view, deferred = target(dev, 1), dev.create_deferred_context()
    resource = view.get_resource()
    deferred.clear_render_target_view(view, (1, 0, 0, 1))
    view.release()
    commands = deferred.finish_command_list(False)
    dev.context.execute_command_list(commands, False)
    assert data_of(dev, resource) == RED
    commands.release()
    with pytest.raises(Refused):
        dev.child(view.memory)


def test_a_command_list_is_executed_within_another() -> None:
    dev = device()
    view, inner, outer = (
        target(dev, 1),
        dev.create_deferred_context(),
        dev.create_deferred_context(),
    )
    inner.clear_render_target_view(view, (1, 0, 0, 1))
    outer.execute_command_list(inner.finish_command_list(False), True)
    dev.context.execute_command_list(outer.finish_command_list(False), False)
    assert data_of(dev, view.resource) == RED


def test_maps_of_a_deferred_context_discard_first() -> None:
    dev = device()
    bound, deferred = dynamic(dev, 8), dev.create_deferred_context()
    for kind in (Map.WRITE_NOOVERWRITE, Map.READ):
        with pytest.raises(Refused) as caught:
            deferred.map(bound, 0, kind)
        assert caught.value.hr == Result.E_INVALIDARG
    deferred.map(bound, 0, Map.WRITE_DISCARD).pData[:] = b"12345678"
    deferred.unmap(bound, 0)
    deferred.map(bound, 0, Map.WRITE_NOOVERWRITE).pData[4:] = b"abcd"
    deferred.unmap(bound, 0)
    dev.context.execute_command_list(deferred.finish_command_list(False), False)
    assert data_of(dev, bound) == b"1234abcd"
    with pytest.raises(Refused):
        deferred.map(bound, 0, Map.WRITE_NOOVERWRITE)


def test_a_map_that_outlives_its_command_list_writes_nothing() -> None:
    dev = device()
    bound, deferred = dynamic(dev, 8), dev.create_deferred_context()
    deferred.map(bound, 0, Map.WRITE_DISCARD)
    deferred.finish_command_list(False)
    deferred.unmap(bound, 0)
    assert list(deferred.messages) == ["Unmap of a resource that is not mapped"]


def test_what_breaks_a_rule_is_a_message_while_it_is_recorded() -> None:
    dev = device()
    deferred = dev.create_deferred_context()
    deferred.vs_set_constant_buffers(14, [constants(dev)])
    deferred.update_subresource(dynamic(dev), 0, None, bytes(64))
    assert len(deferred.messages) == 2
    dev.context.execute_command_list(deferred.finish_command_list(False), False)
    assert not dev.context.messages


def test_a_deferred_context_has_no_data_of_queries() -> None:
    dev = device()
    query, deferred = dev.create_query(QueryDesc(QueryType.EVENT)), dev.create_deferred_context()
    assert deferred.get_data(query).hr == Result.DXGI_ERROR_INVALID_CALL
