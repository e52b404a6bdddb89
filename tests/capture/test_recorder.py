"""Calls of the Direct3D 10/11 interface become records."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.capture.payloads import decode, encode
from dp2emu.capture.recorder import RecordedDevice, Recorder
from dp2emu.capture.records import Annotation, EntryCalled, Record
from dp2emu.capture.values import Memory, Structure
from dp2emu.ddi10.adapter import Adapter, Cause
from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.queries.counters import StringOut
from dp2emu.ddi10.queries.query_types import CreateQuery, Query
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import CreateResource, MipInfo, ResourceType, Usage
from dp2emu.errors import ShaderError, UsageError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import fixed

EVENT = CreateQuery(Query.EVENT)


class Recording:
    """A recorder, a device of its and what was recorded; every record must come back as bytes."""

    def __init__(self, adapter: Adapter | None = None, *, contents: bool = True) -> None:
        self.adapter = adapter or Adapter()
        self.records: list[EntryCalled] = []
        self.codes: list[int] = []
        self.recorder = Recorder(self.adapter, self.put, contents=contents)
        self.device: RecordedDevice = self.recorder.create_device(
            110, lambda layer, code: self.codes.append(code)
        )

    def put(self, record: Record) -> None:
        assert decode(*encode(record)) == record
        if isinstance(record, EntryCalled):
            self.records.append(record)

    def call(self, name: str, *arguments: Any) -> EntryCalled:
        self.device.functions[name](*arguments)
        return self.records[-1]

    def query(self) -> bytearray:
        memory = bytearray(self.device.functions["CalcPrivateQuerySize"](EVENT))
        self.call("CreateQuery", EVENT, memory, 0)
        return memory


def test_a_device_is_a_record_with_its_number_and_version() -> None:
    recording = Recording()
    second = recording.recorder.create_device(100, lambda layer, code: None)
    second.functions["Flush"]()
    assert recording.records == [
        EntryCalled(0, 110, "Adapter.CreateDevice", (1,)),
        EntryCalled(0, 100, "Adapter.CreateDevice", (2,)),
        EntryCalled(2, 100, "Flush"),
    ]


def test_objects_have_the_number_of_their_memory_until_they_are_destroyed() -> None:
    recording = Recording()
    first, second = recording.query(), recording.query()
    size = len(first)
    made = [record for record in recording.records if record.entry == "CreateQuery"]
    description = Structure("CreateQuery", (0, 0))
    assert [record.arguments for record in made] == [
        (description, Memory(1, size), 0), (description, Memory(2, size), 0)
    ]  # fmt: skip
    assert recording.call("QueryEnd", second).arguments == (Memory(2, size),)
    assert recording.call("DestroyQuery", first).arguments == (Memory(1, size),)
    third = recording.query()
    assert recording.call("QueryEnd", third).arguments == (Memory(3, size),)


def test_sizes_are_results() -> None:
    recording = Recording()
    memory = recording.query()
    (asked,) = (each for each in recording.records if each.entry == "CalcPrivateQuerySize")
    assert asked.result == len(memory)


def test_memory_that_is_filled_is_told_before_and_after() -> None:
    recording = Recording()
    query = recording.query()
    recording.call("QueryEnd", query)
    found = recording.call("QueryGetData", query, bytearray(b"\xcc" * 4), 4, 0)
    assert found.arguments[1:] == (b"\xcc" * 4, 4, 0)
    assert found.written == ((0, b"\1\0\0\0"),)
    again = recording.call("QueryGetData", query, bytearray(b"\1\0\0\0"), 4, 0)
    assert again.written == ()


def test_codes_are_recorded_and_still_reported() -> None:
    recording = Recording(Adapter(Gpu(fixed(call=0, packet=9))))
    query = recording.query()
    recording.call("QueryEnd", query)
    found = recording.call("QueryGetData", query, bytearray(4), 4, 1)
    assert found.codes == (DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING,)
    assert recording.codes == [DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING]
    assert found.written == ()


def test_memory_in_which_nothing_was_made_has_no_number() -> None:
    recording = Recording()
    recording.adapter.remove()
    memory = bytearray(28)
    failed = recording.call("CreateQuery", EVENT, memory, 0)
    assert failed.codes == (DdiCode.D3DDDIERR_DEVICEREMOVED,)
    assert recording.recorder.memories.number(memory) is None


def test_what_fails_is_recorded_with_its_reason() -> None:
    recording = Recording()
    with pytest.raises(ShaderError):
        recording.call("CreateHullShader", b"\0", bytearray(16), 0)
    assert recording.records[-1].result == Structure("Raised", ("ShaderError",))


def test_what_is_mapped_is_told_when_it_is_read_or_given_back() -> None:
    recording = Recording()
    desc = CreateResource((MipInfo(4),), None, ResourceType.BUFFER, Usage.STAGING)
    memory = bytearray(recording.device.functions["CalcPrivateResourceSize"](desc))
    recording.call("CreateResource", desc, memory, 0)
    mapped = recording.device.functions["StagingResourceMap"](memory, 0, Map.WRITE, 0)
    mapped.pData[:] = b"abcd"
    recording.call("StagingResourceUnmap", memory, 0)
    assert [record.entry for record in recording.records[-3:]] == [
        "StagingResourceMap", "Host.Write", "StagingResourceUnmap"
    ]  # fmt: skip
    assert recording.records[-2].arguments == (Memory(1, len(memory)), 0, b"abcd")
    read = recording.call("StagingResourceMap", memory, 0, Map.READ, 0)
    assert read.result == Structure("MappedSubresource", (b"abcd", 4, 4))
    recording.call("StagingResourceUnmap", memory, 0)
    assert "Host.Write" not in [record.entry for record in recording.records[-2:]]


def test_without_contents_a_map_for_reading_is_recorded_without_bytes() -> None:
    recording = Recording(contents=False)
    desc = CreateResource((MipInfo(4),), None, ResourceType.BUFFER, Usage.STAGING)
    memory = bytearray(recording.device.functions["CalcPrivateResourceSize"](desc))
    recording.call("CreateResource", desc, memory, 0)
    read = recording.call("StagingResourceMap", memory, 0, Map.READ, 0)
    assert read.result == Structure("MappedSubresource", (None, 4, 4))


def test_what_befalls_the_adapter_is_recorded() -> None:
    recording = Recording()
    recording.recorder.disturb(Cause.HEAT)
    recording.recorder.advance(5)
    recording.recorder.finish()
    recording.recorder.remove(after=3)
    assert [(record.entry, record.arguments) for record in recording.records[1:]] == [
        ("Adapter.Disturb", ("heat",)), ("Adapter.Advance", (5,)), ("Adapter.Finish", ()),
        ("Adapter.Remove", (3,)),
    ]  # fmt: skip
    assert recording.adapter.disturbances[0].cause is Cause.HEAT


def test_structures_of_memory_and_tables_of_dxgi_are_recorded() -> None:
    recording = Recording()
    name = StringOut(bytearray(40), 40)
    found = recording.call("CheckCounter", 0x1000, name, None, None)
    assert found.arguments[1] == Structure("StringOut", (bytes(40), 40))
    ((place, text),) = found.written
    assert place == 0 and text.startswith(b"GPU")
    assert isinstance(found.result, Structure) and found.result.name == "Filled"
    _, changed = found.result.members
    assert changed == ((1, Structure("StringOut", (text, name.length))),)
    recording.device.dxgi_functions["QueryResourceResidency"]([], None)
    assert recording.records[-1].entry == "DXGI.QueryResourceResidency"
    assert recording.records[-1].result == 0


def test_other_records_may_stand_between() -> None:
    found: list[Record] = []
    Recorder(Adapter(), found.append).put(Annotation("title", "x"))
    assert found == [Annotation("timing", "instant"), Annotation("title", "x")]


def test_what_no_capture_holds_is_refused() -> None:
    with pytest.raises(UsageError, match="object is nothing"):
        Recording().call("SetTextFilterSize", object())


def test_calls_have_the_number_of_the_api_call_that_they_carry_out() -> None:
    recording = Recording()
    recording.recorder.call = 7
    recording.call("Flush")
    recording.recorder.finish()
    recording.recorder.call = None
    recording.call("Flush")
    assert [(record.entry, record.call) for record in recording.records[1:]] == [
        ("Flush", 7), ("Adapter.Finish", 7), ("Flush", None)
    ]  # fmt: skip
