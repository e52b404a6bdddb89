"""Texture instructions of ps_1_x with textures behind them, from the tokens to the pixels."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import Format, RenderState
from dp2emu.runtime.objects import Texture
from tests.dp2.screen import BLUE, GREEN, RED, WHITE, Screen, code, words

BLACK, GRAY, YELLOW = 0xFF000000, 0xFF808080, 0xFFFFFF00
FACES = (RED, GREEN, BLUE, WHITE, GRAY, YELLOW)
"""+X, -X, +Y, -Y, +Z, -Z."""


@pytest.fixture
def screen() -> Screen:
    return Screen()


def shade(screen: Screen, text: str) -> None:
    screen.device.set_pixel_shader(screen.device.create_pixel_shader(code(text)))


def signed(screen: Screen, *components: float) -> Texture:
    """A texel of Q8W8V8U8."""
    data = bytes(round(127 * each) & 0xFF for each in components)
    return screen.device.create_texture(1, 1, Format.Q8W8V8U8, [data])


def cube(screen: Screen) -> Texture:
    return screen.device.create_cube_texture(1, Format.A8R8G8B8, [[words(c)] for c in FACES])


def four(screen: Screen) -> Texture:
    """Red and green above blue and white."""
    data = words(RED, GREEN, BLUE, WHITE)
    return screen.device.create_texture(2, 2, Format.A8R8G8B8, [data])


@pytest.mark.parametrize(
    ("op", "texel", "wanted"),
    [
        # alpha and red are u and v
        ("texreg2ar", 0x40000000, RED), ("texreg2ar", 0xC0000000, GREEN),
        ("texreg2ar", 0x40C00000, BLUE), ("texreg2ar", 0xC0C00000, WHITE),
        # green and blue are
        ("texreg2gb", 0x00004040, RED), ("texreg2gb", 0x0000C040, GREEN),
        ("texreg2gb", 0x000040C0, BLUE), ("texreg2gb", 0x0000C0C0, WHITE),
    ],
)  # fmt: skip
def test_two_components_address_a_texture(
    screen: Screen, op: str, texel: int, wanted: int
) -> None:
    shade(screen, f"ps_1_1\ntex t0\n{op} t1, t0\nmov r0, t1\n")
    screen.device.set_texture(0, screen.texture(texel))
    screen.device.set_texture(1, four(screen))
    assert screen.draw((0.5, 0.5), (0.0, 0.0)) == wanted


def test_three_components_address_a_cube(screen: Screen) -> None:
    shade(screen, "ps_1_2\ntex t0\ntexreg2rgb t1, t0\nmov r0, t1\n")
    screen.device.set_texture(1, cube(screen))
    for texel, wanted in ((0x00FF4020, RED), (0x0040FF20, BLUE), (0x002040FF, GRAY)):
        screen.device.set_texture(0, screen.texture(texel))
        assert screen.draw((0.5, 0.5), (0.0, 0.0)) == wanted


NORMALS = [((1, 0, 0), RED), ((-1, 0, 0), GREEN), ((0, 1, 0), BLUE), ((0, -1, 0), WHITE),
           ((0, 0, 1), GRAY), ((0, 0, -1), YELLOW)]  # fmt: skip
IDENTITY = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@pytest.mark.parametrize(("normal", "wanted"), NORMALS)
def test_matrix_turns_a_normal_towards_a_face(
    screen: Screen, normal: tuple[float, ...], wanted: int
) -> None:
    shade(screen, "ps_1_1\ntex t0\ntexm3x3pad t1, t0\ntexm3x3pad t2, t0\n"
                  "texm3x3tex t3, t0\nmov r0, t3\n")  # fmt: skip
    screen.device.set_texture(0, signed(screen, *normal, 1))
    screen.device.set_texture(3, cube(screen))
    assert screen.draw((0.5, 0.5), *IDENTITY) == wanted
    x, y, z = IDENTITY
    turned = dict(NORMALS)[normal[1], normal[2], normal[0]]
    assert screen.draw((0.5, 0.5), y, z, x) == turned


@pytest.mark.parametrize(
    ("normal", "eye", "wanted"),
    [
        ((0, 0, 1), (0, 0, 1), GRAY),
        ((0, 0, 1), (1, 0, 0.25), GREEN),
        ((0, 1, 0), (0, -1, 0), WHITE),
    ],
)
@pytest.mark.parametrize("op", ["texm3x3spec", "texm3x3vspec"])
def test_reflection_of_the_eye_finds_a_face(
    screen: Screen, op: str, normal: tuple[float, ...], eye: tuple[float, ...], wanted: int
) -> None:
    """2 (n.e / n.n) n - e, with the eye in a constant or in the fourth coordinates."""
    last = f"{op} t3, t0" + (", c0" if op == "texm3x3spec" else "")
    shade(screen, "ps_1_1\ntex t0\ntexm3x3pad t1, t0\ntexm3x3pad t2, t0\n"
                  f"{last}\nmov r0, t3\n")  # fmt: skip
    screen.device.set_texture(0, signed(screen, *normal, 1))
    screen.device.set_texture(3, cube(screen))
    screen.device.set_pixel_constants(0, [(*eye, 0.0)])
    rows = [(*row, each) for row, each in zip(IDENTITY, eye, strict=True)]
    assert screen.draw((0.5, 0.5), *rows) == wanted


def test_two_products_address_a_texture(screen: Screen) -> None:
    shade(screen, "ps_1_1\ntex t0\ntexm3x2pad t1, t0\ntexm3x2tex t2, t0\nmov r0, t2\n")
    screen.device.set_texture(0, screen.texture(0xFFFF8000))
    screen.device.set_texture(2, four(screen))
    places = {RED: (0.25, 0.25), GREEN: (0.75, 0.25), BLUE: (0.25, 0.75), WHITE: (0.75, 0.75)}
    for wanted, (u, v) in places.items():
        assert screen.draw((0.5, 0.5), (u, 0.0, 9.0), (v - 0.25, 128 / 255, 9.0)) == wanted


def test_one_product_addresses_a_row(screen: Screen) -> None:
    shade(screen, "ps_1_2\ntex t0\ntexdp3tex t1, t0\nmov r0, t1\n")
    screen.device.set_texture(0, screen.texture(WHITE))
    screen.device.set_texture(1, screen.texture(RED, GREEN, BLUE, WHITE))
    for place, wanted in enumerate((RED, GREEN, BLUE, WHITE)):
        third = (place + 0.5) / 12
        assert screen.draw((0.5, 0.5), (third, third, third)) == wanted


def test_luminance_dims_what_a_bump_moved_to(screen: Screen) -> None:
    """Blue of the bump map times scale plus offset of the stage that is sampled."""
    shade(screen, "ps_1_1\ntex t0\ntexbeml t1, t0\nmov r0, t1\n")
    screen.device.set_texture(0, signed(screen, 1, -1, 0.5, 1))
    screen.device.set_texture(1, screen.texture(RED, WHITE))
    screen.stage(1, BUMPENVMAT00=0.5, BUMPENVLSCALE=0.5, BUMPENVLOFFSET=0.25)
    level = round(255 * (64 / 127 * 0.5 + 0.25))
    assert screen.draw((0.5, 0.5), (0.25, 0.5)) == 0xFF000000 | level * 0x010101


@pytest.mark.parametrize(("modifier", "wanted"), [("", BLUE), ("_dz", GREEN), ("_dw", WHITE)])
def test_texld_of_1_4_divides_as_its_modifier_says(
    screen: Screen, modifier: str, wanted: int
) -> None:
    """x and y are divided by z with dz and by w with dw."""
    if modifier == "_dz":
        text = "texcrd r1.rgb, t0\nphase\ntexld r0, r1_dz\n"
    else:
        swizzle = "_dw.xyw" if modifier else ".xyz"
        text = f"texld r0, t0{swizzle}\n"
    shade(screen, f"ps_1_4\n{text}")
    screen.device.set_texture(0, screen.texture(RED, GREEN, BLUE, WHITE))
    x, z, w = {"": (0.625, 2.0, 4.0), "_dz": (0.75, 2.0, 4.0), "_dw": (1.75, 1.0, 2.0)}[modifier]
    assert screen.draw((x, 0.0, z, w)) == wanted


FROM_COORDINATES = "ps_1_4\ntexcrd r5.rgb, t0\nphase\ntexdepth r5\nmov r0, c0\n"
FROM_PRODUCTS = "ps_1_3\ntex t0\ntexm3x2pad t1, t0\ntexm3x2depth t2, t0\nmov r0, c0\n"


@pytest.mark.parametrize("text", [FROM_COORDINATES, FROM_PRODUCTS])
def test_depth_from_a_quotient_is_what_is_tested(text: str) -> None:
    """0.25 is nearer than 0.5 and 0.75 is not; the depth of the square does not matter."""
    screen = Screen(depth=Format.D24S8)
    screen.device.set_render_state(RenderState.ZENABLE, 1)
    shade(screen, text)
    screen.device.set_pixel_constants(0, [(0.0, 1.0, 0.0, 1.0)])
    screen.device.set_texture(0, screen.texture(0xFFFF0000))
    for quotient, wanted in ((0.25, GREEN), (0.75, BLACK)):
        screen.device.clear(color=BLACK, z=0.5)
        products = (0.5, 0.5, 0.0), (quotient * 2, 0.0, 0.0), (2.0, 0.0, 0.0)
        coordinates = ((quotient, 1.0, 0.0),)
        assert screen.draw(*(coordinates if text is FROM_COORDINATES else products)) == wanted
