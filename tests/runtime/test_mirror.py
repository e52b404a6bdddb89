"""Settings that are mirrored, and state blocks made of them."""

from __future__ import annotations

from typing import Any

from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.runtime.mirror import Key, Mirror
from dp2emu.runtime.objects import Texture


class Log:
    """What was sent, in order.  Mutable: it grows."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []
        self.mirror = Mirror(
            {name: self._note(name) for name in ("render", "texture", "vertex_floats")},
            self._default,
        )

    def _note(self, name: str) -> Any:
        return lambda *arguments: self.sent.append((name, *arguments))

    def _default(self, key: Key) -> Any:
        return {"render": 0, "texture": None, "vertex_floats": (0.0,) * 4}[key[0]]

    def take(self) -> list[tuple[Any, ...]]:
        taken, self.sent = self.sent, []
        return taken


def test_what_is_set_is_sent_and_known() -> None:
    log = Log()
    log.mirror.put("render", 7, 1)
    log.mirror.put("render", 7, 1)
    assert log.take() == [("render", 7, 1)] * 2
    assert (log.mirror.get("render", 7), log.mirror.get("render", 8)) == (1, 0)
    log.mirror.know("render", 8, 5)
    assert log.take() == []
    assert log.mirror.get("render", 8) == 5


def test_neighbours_are_sent_together_and_known_apart() -> None:
    log = Log()
    rows = [(1.0,) * 4, (2.0,) * 4]
    log.mirror.put_rows("vertex_floats", 3, rows)
    assert log.take() == [("vertex_floats", 3, rows)]
    assert log.mirror.get("vertex_floats", 4) == rows[1]
    log.mirror.put_rows("vertex_floats", 9, [])
    assert log.take() == []


def test_a_recording_takes_everything_in_the_order_it_came_last() -> None:
    log = Log()
    log.mirror.begin()
    log.mirror.put("render", 1, 1)
    log.mirror.put("render", 2, 2)
    log.mirror.put("render", 1, 3)
    log.mirror.put_rows("vertex_floats", 0, [(5.0,) * 4, (6.0,) * 4])
    assert log.mirror.recording
    block = log.mirror.end()
    assert (log.take(), log.mirror.get("render", 1)) == ([], 0)
    log.mirror.apply(block)
    assert log.take() == [
        ("render", 2, 2), ("render", 1, 3),
        ("vertex_floats", 0, [(5.0,) * 4]), ("vertex_floats", 1, [(6.0,) * 4]),
    ]  # fmt: skip


def test_only_what_differs_is_applied() -> None:
    log = Log()
    log.mirror.put("render", 1, 4)
    block = log.mirror.create([("render", 1), ("render", 2), ("texture", 0)])
    log.mirror.put("render", 2, 9)
    log.take()
    log.mirror.apply(block)
    assert log.take() == [("render", 2, 0)]
    log.mirror.put("render", 1, 8)
    log.mirror.capture(block)
    assert block.values == {("render", 1): 8, ("render", 2): 0, ("texture", 0): None}


def test_a_reset_sends_the_defaults_of_what_was_changed() -> None:
    log = Log()
    log.mirror.put("render", 1, 4)
    log.mirror.put("render", 2, 0)
    log.mirror.put_rows("vertex_floats", 1, [(1.0,) * 4])
    log.mirror.begin()
    log.take()
    log.mirror.reset()
    assert log.take() == [("render", 1, 0), ("vertex_floats", 1, [(0.0,) * 4])]
    assert not log.mirror.recording
    assert log.mirror.keys("render") == log.mirror.keys("vertex_floats") == []


def test_objects_are_freed_when_no_setting_block_or_recording_holds_them() -> None:
    log, freed = Log(), []
    log.mirror.uses.freed = freed.append
    one, other = (Texture(SurfaceDesc(n, SurfaceKind.TEXTURE, 4, 4)) for n in (1, 2))
    log.mirror.put("texture", 0, one)
    block = log.mirror.create([("texture", 0)])
    log.mirror.put("texture", 0, other)
    assert (freed, 1 in log.mirror.uses) == ([], True)
    log.mirror.capture(block)
    assert freed == [1]
    log.mirror.begin()
    log.mirror.put("texture", 1, one)
    recorded = log.mirror.end()
    log.mirror.reset()
    assert freed == [1]
    log.mirror.delete(block)
    assert freed == [1, 2]
    log.mirror.capture(block)
    log.mirror.delete(block)
    log.mirror.begin()
    log.mirror.put("texture", 2, other)
    log.mirror.begin()
    assert freed == [1, 2, 2]
    log.mirror.delete(recorded)
    assert freed == [1, 2, 2, 1]
