"""Every target tries inputs of every kind without a finding, and each notices what it is for."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from io import BytesIO
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from dp2emu.capture import open_capture
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2 import walk
from dp2emu.dp2.header_scan import OTHER, ShortWalk, row_of
from dp2emu.dp2.table import TABLE
from dp2emu.errors import Dp2Error
from dp2emu.fuzz import files, grammar, mutants, stage, streams, targets
from dp2emu.fuzz.findings import sealed
from dp2emu.fuzz.stage import CALL, Stage
from dp2emu.fuzz.target import Broken, Target
from tests.dp2.rigging import END, create, issue

FEW = 40
FEWER = {"programs10": 8, "draws": 2, "draws10": 2}
"""Numbers of inputs of targets whose inputs are programs or many draws, by name."""


@pytest.mark.parametrize("target", targets().values(), ids=lambda target: target.name)
def test_inputs_end_in_an_answer_or_an_error_of_ours(target: Target) -> None:
    rng, trial = Random(1), target.make()
    pool = [target.seed(rng)[: target.most] for _ in range(8)]
    for number in range(FEWER.get(target.name, FEW)):
        data = target.mutate(rng, rng.choice(pool), rng.choice(pool))[: target.most]
        pool[number % len(pool)] = data or b"\0"
        try:
            hash(trial(data))
        except Dp2Error as error:
            assert str(error)


@pytest.mark.parametrize("target", targets().values(), ids=lambda target: target.name)
def test_the_same_random_numbers_make_the_same_inputs(target: Target) -> None:
    def made() -> list[bytes]:
        rng = Random(7)
        seeds = [target.seed(rng) for _ in range(3)]
        return seeds + [target.mutate(rng, *seeds[:2]) for _ in range(5)]

    assert made() == made()


@pytest.mark.parametrize("name", ["walk", "device"])
def test_an_input_is_saved_as_a_capture_with_its_bytes(name: str) -> None:
    target = targets()[name]
    data = target.seed(Random(3))[: target.most]
    records = target.records(data)
    assert records is not None
    assert [*open_capture(BytesIO(sealed(records))).records()] == [*records]


QUERY = create(1, 9) + issue(1, END)
DRAW = grammar.sample(Random(0), Op.CLEAR)
FILL = bytes((Op.COLORFILL, 0, 1, 0)) + struct.pack("<6I", stage.COLOR, 0, 0, 9, 9, 0xFFFFFFFF)


def broken(trial: Callable[[bytes], Any], data: bytes) -> str:
    with pytest.raises(Broken) as caught:
        trial(data)
    return str(caught.value)


def test_the_walk_is_held_to_tokens_that_touch(monkeypatch: pytest.MonkeyPatch) -> None:
    real = streams.scan
    monkeypatch.setattr(
        streams, "scan", lambda *a: (f := real(*a))._replace(commands=f.commands[1:])
    )
    assert "instead of" in broken(streams.walk, DRAW + QUERY)


def test_both_readings_are_held_to_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    real = walk.body_of
    monkeypatch.setattr(walk, "body_of", lambda *given: replace(real(*given), count=7))
    assert "the count is 0 by construct and 7 by the walk" in broken(streams.agree, DRAW)


def test_texts_are_held_to_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        streams.TextCapture, "records", lambda self: iter(streams.records(QUERY)[-1:])
    )
    assert "other bytes" in broken(streams.come_back, DRAW)


def test_a_text_that_cannot_be_read_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams.TextWriter, "write", lambda self, record: self._out.write("x\n"))
    trial = targets()["reassembly"].make()
    assert broken(trial, DRAW) == "the text cannot be read: line 2: x is no record"


def test_texts_of_mutants_are_held_to_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = streams.Texts()
    feature = trial(QUERY)
    assert feature == streams.come_back(QUERY)
    assert mutants.NUMBER * 0.8 < trial.cases <= 1 + mutants.NUMBER
    trial(QUERY * 9)
    mutant = mutants.Mutator(64).distinct(QUERY, [0, 12])[-1]
    assert trial(QUERY) == feature

    real = streams.TextCapture.records

    def damaged(self: Any) -> Iterator[Any]:
        for each in real(self):
            yield replace(each, time=1) if each.call.commands == mutant else each

    monkeypatch.setattr(streams.TextCapture, "records", damaged)
    with pytest.raises(Broken, match="other bytes") as caught:
        trial(QUERY)
    assert caught.value.__notes__ == [f"This is the mutant {mutant.hex()}."]


def test_a_text_that_is_wrong_behind_others_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = streams.TextCapture.records
    monkeypatch.setattr(streams.TextCapture, "records", lambda self: [*real(self)][:9])
    with pytest.raises(Broken, match="other bytes") as caught:
        streams.Texts()(QUERY)
    assert caught.value.__notes__ == ["Each call alone is right."]


def test_engines_are_held_to_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Stage.memory
    times = iter(range(9))
    monkeypatch.setattr(Stage, "memory", lambda self: [*real(self), bytes((next(times),))])
    assert broken(targets()["engines"].make(), b"\0" + DRAW) == "the engines differ: memory"


def test_what_a_stream_leaves_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def enter(self: Stage, data: bytes) -> None:
        for desc in stage.SURFACES:
            if self.driver.gpu.heap.get(desc.handle) is None:
                self.driver.create_surface(desc)
        self.driver.create_context(1, interface=9, color=stage.COLOR, depth=stage.DEPTH)

    monkeypatch.setattr(Stage, "enter", enter)
    monkeypatch.setattr(Stage, "leave", lambda self: self.driver.destroy_context(1))
    assert "memory" in broken(streams.nothing_stays, b"\0" + FILL + CALL + QUERY)


def test_answers_to_what_nobody_asked_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_ended", lambda commands: set())
    assert "never issued" in broken(targets()["queries"].make(), b"\0" + QUERY)


def test_what_is_done_behind_an_error_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real, wrong = stage.shortened, issue(99, END)
    monkeypatch.setattr(stage, "shortened", lambda call, commands: real(call, wrong))
    assert "fails at 0" in broken(targets()["offset"].make(), b"\0" + DRAW + wrong)


def test_what_is_not_done_before_an_error_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = stage.shortened
    monkeypatch.setattr(stage, "shortened", lambda call, commands: real(call, b""))
    assert "did something" in broken(targets()["offset"].make(), b"\0" + FILL + issue(99, END))


def test_items_before_the_one_that_fails_may_be_done() -> None:
    priorities = bytes((Op.SETPRIORITY, 0, 2, 0)) + struct.pack("<4I", stage.COLOR, 5, 0, 0)
    targets()["offset"].make()(b"\0" + priorities)


def test_readers_of_responses_are_held_to_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "response_blocks", lambda data: iter(()))
    data = bytes((Op.RESPONSECONTINUE, 0, 0, 0, 8, 0, 0, 0))
    assert "accepts" in broken(files.responses, data)


def test_the_compiled_walk_is_held_to_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    assert row_of(TABLE[Op.CLEAR])[0] == OTHER
    left_out = grammar.sample(Random(0), Op.CLEAR)

    class Wrong(ShortWalk):
        def __call__(self, data: bytes, start: int = 0) -> tuple[list[int], int]:
            offsets, at = super().__call__(data, start)
            return offsets[:1], at

    trial = targets()["walk"].make()
    trial(DRAW + QUERY + left_out + DRAW)
    monkeypatch.setattr(streams, "ShortWalk", Wrong)
    assert "the compiled walk stopped" in broken(targets()["walk"].make(), DRAW + QUERY)


def test_the_compiled_walk_is_held_to_the_walk_in_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = targets()["walk"].make()
    assert isinstance(trial, streams.Walks)
    trial(DRAW + QUERY)
    assert trial.cases == 1 + mutants.NUMBER
    made = mutants.Mutants(96, grammar.VERTEX_SIZE)(DRAW + QUERY, [0, len(DRAW)])
    again = mutants.Mutants(96, grammar.VERTEX_SIZE)(DRAW + QUERY, [0, len(DRAW)])
    assert made == again
    different = {made[0][start:end] for start, end, *_ in made[1]}
    assert len(different) > mutants.NUMBER * 0.8

    class Longer(mutants.Mutants):
        def __call__(self, *given: Any) -> Any:
            data, lanes, offsets = super().__call__(*given)
            start, end, at, number = lanes[-1]
            return data, [*lanes[:-1], [start, end, at + 4, number]], offsets

    monkeypatch.setattr(streams, "Mutants", Longer)
    assert "tokens of a mutant" in broken(targets()["walk"].make(), DRAW + QUERY)
