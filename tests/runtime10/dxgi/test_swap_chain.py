"""Swap chains: their buffers, and what Present makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.errors import Unsupported
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import (
    BufferUsage,
    DxgiResource,
    FrameStatistics,
    ModeDesc,
    PresentFlag,
    SwapChainDesc1,
    SwapChainFlag,
    SwapEffect,
    Window,
    create_dxgi_factory,
    dxgi_device,
)
from dp2emu.runtime10.enums import FormatSupport
from dp2emu.runtime10.views import ViewDesc
from tests.runtime10.dxgi.showing import (
    BGRA8,
    BLUE,
    GREEN,
    RED,
    RGB10,
    RGBA8,
    SIDES,
    SRGB8,
    TARGET,
    WHITE,
    Program,
    flipping,
)

XR_BIAS = 89
SEQUENTIAL, FLIP = int(SwapEffect.SEQUENTIAL), int(SwapEffect.FLIP_SEQUENTIAL)
FLIP_DISCARD = int(SwapEffect.FLIP_DISCARD)
READ_ONLY = int(BufferUsage.READ_ONLY)
INVALID_CALL = Result.DXGI_ERROR_INVALID_CALL


def refused(hr: Result = INVALID_CALL) -> Any:
    return pytest.raises(Refused, check=lambda error: error.hr == hr)


@pytest.mark.parametrize("api", Api)
def test_a_swap_chain_without_a_size_has_that_of_the_window(api: Api) -> None:
    program = Program(api)
    assert program.chain.get_desc().BufferDesc[:2] == SIDES
    assert program.chain.get_desc().OutputWindow is program.window
    desc = program.chain.get_buffer(0).desc
    assert (desc.Width, desc.Height, desc.Format, desc.BindFlags) == (*SIDES, RGBA8, 0x20)


def test_a_back_buffer_of_biased_colours_is_drawn_to_by_views_of_the_plain_format() -> None:
    program = Program()
    chain = program.create(XR_BIAS)
    buffer = chain.get_buffer(0)
    with refused(Result.E_INVALIDARG):
        program.device.create_render_target_view(buffer)
    view = program.device.create_render_target_view(buffer, ViewDesc(RGB10))
    program.device.context.clear_render_target_view(view, (1.0, 0.0, 0.0, 1.0))
    pixel = program.device.driver.read(buffer.driver)[:4]
    assert pixel == (0x3FF | 3 << 30).to_bytes(4, "little")
    chain.present()
    assert chain.get_last_present_count() == 1


@pytest.mark.parametrize(("format", "taken"), [(RGBA8, True), (XR_BIAS, False), (RGB10, False)])
def test_back_buffers_of_the_levels_9_have_8_bits_a_channel(format: int, taken: bool) -> None:
    device = Device(create_dxgi_factory().enum_adapters(0), feature_level=0x9300)
    factory = dxgi_device(device).get_adapter().get_parent()
    assert device.check_format_support(RGBA8) & FormatSupport.DISPLAY
    desc = SwapChainDesc1(4, 2, format)
    if taken:
        factory.create_swap_chain_for_hwnd(device, Window(4, 2), desc)
        return
    with refused():
        factory.create_swap_chain_for_hwnd(device, Window(4, 2), desc)


@pytest.mark.parametrize(
    ("usage", "bind"),
    [
        (BufferUsage.SHADER_INPUT, 0x8),
        (BufferUsage.SHADER_INPUT | BufferUsage.RENDER_TARGET_OUTPUT, 0x28),
        (BufferUsage.UNORDERED_ACCESS | BufferUsage.RENDER_TARGET_OUTPUT, 0xA0),
        (BufferUsage.BACK_BUFFER | BufferUsage.DISCARD_ON_PRESENT, 0),
    ],
)
def test_buffers_have_the_bind_flags_of_the_usage(usage: int, bind: int) -> None:
    assert Program(BufferUsage=int(usage)).chain.get_buffer(0).desc.BindFlags == bind


@pytest.mark.parametrize("effect", [SEQUENTIAL, FLIP, FLIP_DISCARD])
def test_present_gives_each_buffer_the_contents_of_the_next_one(effect: int) -> None:
    program = flipping(3, SwapEffect=effect)
    program.show(RED, GREEN, BLUE)
    assert program.colors() == [RED, GREEN, BLUE]
    program.chain.present(1)
    assert program.colors() == [GREEN, BLUE, RED]
    program.fill(WHITE)
    assert program.colors() == [WHITE, BLUE, RED]


@pytest.mark.parametrize("effect", [SEQUENTIAL, FLIP, FLIP_DISCARD])
def test_buffers_behind_the_first_are_read_only(effect: int) -> None:
    usage = int(BufferUsage.UNORDERED_ACCESS | BufferUsage.SHADER_INPUT) | TARGET
    program = flipping(SwapEffect=effect, BufferUsage=usage)
    first, second = (program.chain.get_buffer(index) for index in range(2))
    assert [DxgiResource(each).get_usage() & READ_ONLY for each in (first, second)] == [
        0, READ_ONLY
    ]  # fmt: skip
    device = program.device
    for create in (device.create_render_target_view, device.create_unordered_access_view):
        create(first)
        with refused(Result.E_INVALIDARG):
            create(second)
    device.create_shader_resource_view(second)
    with refused(Result.E_INVALIDARG):
        device.create_render_target_view(program.chain.get_buffer(1))


def test_a_discarding_chain_has_access_to_buffer_0_only() -> None:
    program = Program(BufferCount=2)
    program.fill(RED)
    program.chain.present()
    with refused():
        program.chain.get_buffer(1)


def test_what_is_presented_is_on_the_screen() -> None:
    program = flipping()
    program.fill(RED)
    front = program.chain.buffers[0].memory
    shown = []
    program.device.driver._dxgi_functions = {
        **program.device.driver._dxgi_functions,
        "Present": lambda given: shown.append(given) or 0,
    }
    program.chain.present(3)
    assert [(each.hSurfaceToPresent, each.FlipInterval) for each in shown] == [(front, 3)]


@pytest.mark.parametrize("effect", [FLIP, FLIP_DISCARD, SEQUENTIAL])
def test_present_of_the_flip_model_unbinds_buffer_0(effect: int) -> None:
    usage = int(BufferUsage.SHADER_INPUT | BufferUsage.RENDER_TARGET_OUTPUT)
    program = flipping(SwapEffect=effect, BufferUsage=usage)
    device, context = program.device, program.device.context
    other = device.create_texture2d(program.chain.buffers[0].desc)
    views = [device.create_render_target_view(each) for each in (program.chain.buffers[0], other)]
    context.om_set_render_targets(views)
    program.chain.present(0, PresentFlag.TEST)
    program.chain.present(0, PresentFlag.DO_NOT_SEQUENCE)
    assert context.om_get_render_targets(2)[0] == views
    program.chain.present()
    kept = views[0] if effect == SEQUENTIAL else None
    assert context.om_get_render_targets(2)[0] == [kept, views[1]]


def test_present_of_the_flip_model_unbinds_views_that_shaders_read() -> None:
    usage = int(BufferUsage.SHADER_INPUT | BufferUsage.RENDER_TARGET_OUTPUT)
    program = flipping(BufferUsage=usage)
    context = program.device.context
    views = [program.device.create_shader_resource_view(each) for each in program.chain.buffers]
    context.ps_set_shader_resources(3, views)
    context.vs_set_shader_resources(0, views[:1])
    program.chain.present()
    assert context.ps_get_shader_resources(3, 2) == [None, views[1]]
    assert context.vs_get_shader_resources(0, 1) == [None]


def test_a_test_shows_nothing() -> None:
    program = flipping()
    program.show(RED, BLUE)
    program.chain.present(0, PresentFlag.TEST)
    assert program.colors() == [RED, BLUE]
    assert program.chain.get_last_present_count() == 2


def test_a_frame_can_be_shown_again_without_an_exchange() -> None:
    program = flipping()
    chain = program.chain
    chain.present(0, PresentFlag.DO_NOT_SEQUENCE)
    assert chain.get_last_present_count() == 0
    program.show(RED, BLUE)
    chain.present(0, PresentFlag.RESTART)
    chain.present(0, PresentFlag.DO_NOT_SEQUENCE | PresentFlag.DO_NOT_WAIT)
    assert program.colors() == [BLUE, RED]
    assert chain.get_last_present_count() == 4


@pytest.mark.parametrize("interval", [0, 1, 2, 3, 4])
def test_the_sync_interval_counts_vertical_blanks(interval: int) -> None:
    program = flipping()
    program.chain.present(2)
    program.chain.present(interval)
    program.chain.output.wait_for_vblank()
    ticks = (3 + interval) * 10_000_000 // 60
    assert program.chain.get_frame_statistics() == FrameStatistics(
        2, 2 + interval, 3 + interval, ticks
    )


@pytest.mark.parametrize(
    ("interval", "flags"),
    [
        (5, 0),
        (-1, 0),
        (0, 0x80),
        (0, PresentFlag.RESTRICT_TO_OUTPUT),
        (0, PresentFlag.STEREO_PREFER_RIGHT),
        (0, PresentFlag.ALLOW_TEARING),
    ],
)
def test_presentations_that_are_refused(interval: int, flags: int) -> None:
    with refused():
        flipping().chain.present(interval, int(flags))


def test_tearing_needs_a_swap_chain_that_allows_it() -> None:
    program = flipping(Flags=int(SwapChainFlag.ALLOW_TEARING))
    program.chain.present(0, PresentFlag.ALLOW_TEARING)
    with refused():
        program.chain.present(1, PresentFlag.ALLOW_TEARING)


def test_statistics_need_the_flip_model() -> None:
    with refused():
        Program().chain.get_frame_statistics()


@pytest.mark.parametrize(
    "members",
    [
        {"BufferCount": 0},
        {"BufferCount": 17},
        {"SwapEffect": 2},
        {"SwapEffect": FLIP, "BufferCount": 1},
        {"SwapEffect": FLIP, "BufferCount": 2, "format": SRGB8},
        {"SwapEffect": FLIP, "BufferCount": 2, "samples": 4},
        {"SwapEffect": SEQUENTIAL, "samples": 4},
        {"format": 0},
        {"format": 41},
        {"samples": 4, "BufferUsage": 0x420},
    ],
)
def test_descriptions_that_are_refused(members: dict[str, Any]) -> None:
    with refused():
        Program().create(**members)


def test_unordered_access_needs_direct3d_11() -> None:
    with refused():
        Program(Api.D3D10_1).create(BufferUsage=0x420)


@pytest.mark.parametrize("format", [RGBA8, BGRA8, SRGB8, RGB10])
def test_formats_of_the_screen(format: int) -> None:
    program = Program(format=format)
    program.fill(WHITE)
    program.chain.present()
    assert program.chain.get_desc1().Format == format


@pytest.mark.parametrize("api", Api)
def test_a_multisampled_chain_is_drawn_and_shown(api: Api) -> None:
    program = Program(api, samples=4)
    program.fill(GREEN)
    program.chain.present(1)
    assert program.colors() == [GREEN]
    assert program.chain.get_buffer(0).desc.SampleDesc.Count == 4


def test_a_buffer_that_does_not_exist() -> None:
    with refused():
        flipping().chain.get_buffer(2)


def test_resized_buffers_are_new() -> None:
    program = flipping()
    program.chain.present()
    program.chain.resize_buffers(3, 8, 6, BGRA8)
    desc = program.chain.get_desc1()
    assert desc[:3] == (8, 6, BGRA8)
    assert desc.BufferCount == len(program.chain.buffers) == 3
    assert program.chain.get_buffer(2).desc[:2] == (8, 6)


def test_resizing_keeps_what_is_0_and_takes_the_size_of_the_window() -> None:
    program = flipping(3)
    program.chain.resize_buffers(0, 8, 6)
    program.chain.resize_target(ModeDesc(10, 5))
    program.chain.resize_buffers()
    desc = program.chain.get_desc1()
    assert (desc[:3], desc.BufferCount) == ((10, 5, RGBA8), 3)
    assert program.window.width == 10


@pytest.mark.parametrize("kind", ["buffer", "view", "binding"])
def test_buffers_in_use_are_not_resized(kind: str) -> None:
    program = flipping()
    buffer = program.chain.get_buffer(0)
    view = program.device.create_render_target_view(buffer)
    if kind != "buffer":
        buffer.release()
    if kind == "binding":
        program.device.context.om_set_render_targets([view])
        view.release()
    with refused():
        program.chain.resize_buffers(0, 8, 6)
    assert program.chain.get_desc1()[:2] == SIDES
    if kind == "binding":
        program.device.context.clear_state()
    else:
        view.release()
    while buffer.references:
        buffer.release()
    program.chain.resize_buffers(0, 8, 6)
    assert program.chain.get_desc1()[:2] == (8, 6)


@pytest.mark.parametrize("given", [(1, 8, 6), (17, 8, 6), (0, 8, 6, 41)])
def test_resizing_to_what_is_refused_changes_nothing(given: tuple[int, ...]) -> None:
    program = flipping()
    with refused():
        program.chain.resize_buffers(*given)
    assert program.chain.get_desc1()[:2] == SIDES
    program.fill(RED)


def test_a_released_chain_leaves_buffers_that_are_used() -> None:
    program = Program()
    buffer = program.chain.get_buffer(0)
    view = program.device.create_render_target_view(buffer)
    assert (program.chain.release(), buffer.release()) == (0, 0)
    program.device.context.clear_render_target_view(view, (1, 0, 0, 1))
    assert set(program.pixels(buffer)) == {RED}
    view.release()
    program.device.close()


def test_a_released_chain_has_nothing_to_show() -> None:
    chain = Program().chain
    assert (chain.add_ref(), chain.release(), chain.release(), chain.release()) == (2, 1, 0, 0)
    for method in (chain.present, chain.resize_buffers):
        with refused():
            method()
    with refused():
        chain.get_buffer(0)


def test_objects_around_a_swap_chain() -> None:
    program = Program()
    chain = program.chain
    assert chain.get_parent() is program.factory
    assert chain.get_device() is program.device
    assert chain.get_hwnd() is program.window
    assert chain.get_containing_output() is program.factory.enum_adapters(0).enum_outputs(0)
    assert chain.get_current_back_buffer_index() == 0
    assert chain.get_restrict_to_output() is None
    with refused():
        chain.get_core_window()


def test_full_screen_mode_is_not_available() -> None:
    chain = Program().chain
    chain.set_fullscreen_state(False)
    assert chain.get_fullscreen_state() == (False, None)
    assert chain.get_fullscreen_desc().Windowed == 1
    with pytest.raises(Refused) as caught:
        chain.set_fullscreen_state(True)
    assert caught.value.hr == Result.DXGI_ERROR_NOT_CURRENTLY_AVAILABLE
    with refused():
        chain.set_fullscreen_state(False, chain.get_containing_output())


def test_members_of_later_interfaces() -> None:
    chain = flipping(Flags=int(SwapChainFlag.FRAME_LATENCY_WAITABLE_OBJECT)).chain
    chain.set_source_size(3, 1)
    assert chain.get_source_size() == (3, 1)
    chain.set_background_color((1.0, 0.5, 0.0, 1.0))
    assert chain.get_background_color() == (1.0, 0.5, 0.0, 1.0)
    chain.set_rotation(1)
    assert (chain.get_rotation(), chain.is_temporary_mono_supported()) == (1, False)
    chain.set_maximum_frame_latency(2)
    assert chain.get_maximum_frame_latency() == 2
    assert [chain.check_color_space_support(each) for each in (0, 12)] == [1, 0]
    chain.set_color_space1(0)
    chain.set_hdr_meta_data(0)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("set_source_size", (5, 1)),
        ("set_source_size", (0, 1)),
        ("set_rotation", (0,)),
        ("set_maximum_frame_latency", (1,)),
        ("get_maximum_frame_latency", ()),
        ("set_color_space1", (12,)),
    ],
)
def test_members_of_later_interfaces_that_are_refused(
    method: str, arguments: tuple[Any, ...]
) -> None:
    with refused():
        getattr(flipping().chain, method)(*arguments)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("present", (0, 0x100)),
        ("set_rotation", (2,)),
        ("get_frame_latency_waitable_object", ()),
        ("set_matrix_transform", ((1.0,) * 6,)),
        ("set_hdr_meta_data", (1,)),
    ],
)
def test_what_is_not_implemented_is_named(method: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(Unsupported):
        getattr(flipping().chain, method)(*arguments)


def test_a_chain_for_composition_has_no_window() -> None:
    program = Program()
    desc = SwapChainDesc1(*SIDES, RGBA8, BufferUsage=TARGET, BufferCount=2, SwapEffect=FLIP)
    create = program.factory.create_swap_chain_for_composition
    chain = create(program.device, desc)
    for method in (chain.get_hwnd, chain.get_fullscreen_desc, chain.resize_buffers):
        with refused():
            method()
    with refused():
        create(program.device, desc._replace(Width=0))
    with refused():
        create(program.device, desc._replace(SwapEffect=0))
    with pytest.raises(Unsupported, match="stereo"):
        create(program.device, desc._replace(Stereo=1))


def test_private_data_of_a_swap_chain() -> None:
    chain = Program().chain
    chain.set_private_data("name", b"front")
    assert chain.get_private_data("name") == b"front"
    chain.set_private_data("name", None)
    assert chain.get_private_data("name") is None
