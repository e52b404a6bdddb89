"""Reading objects key by key."""

from __future__ import annotations

import pytest

from dp2emu.errors import SceneError
from dp2emu.scene.fields import Fields
from dp2emu.scene.values import whole


def test_a_missing_key_is_an_error_unless_it_has_a_default() -> None:
    fields = Fields({}, "command 3")
    assert fields.take("x", whole(0, 9), None) is None
    with pytest.raises(SceneError, match="command 3: no 'x'"):
        fields.take("x", whole(0, 9))


def test_an_error_says_where_and_which_key() -> None:
    with pytest.raises(SceneError, match="command 3: x: 10 is no integer"):
        Fields({"x": 10}, "command 3").take("x", whole(0, 9))


def test_a_key_nobody_asks_for_is_an_error() -> None:
    fields = Fields({"x": 1, "colour": 2, "note": 3}, "command 3")
    fields.take("x", whole(0, 9))
    fields.ignore("note")
    with pytest.raises(SceneError, match="command 3: unknown key 'colour'"):
        fields.finish()


def test_only_an_object_has_fields() -> None:
    with pytest.raises(SceneError, match="command 3: not an object"):
        Fields([1], "command 3")
