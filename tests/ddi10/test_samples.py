"""Pixel shaders by sample, with coverage, and behind the tests, in both engines at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.queries.query_types import Query
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.states.state_objects import BlendDesc1, DepthStencilDesc, RasterizerDesc
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.engines import CHECKED, engine
from tests.ddi10.drawing import SIZE, strip, tokens
from tests.ddi10.rendering import Rendering
from tests.ddi10.shaders.test_stage_resources import ps

F = DxgiFormat
SAMPLES = 4
PLACES = ((-2, -6), (6, -2), (-6, 2), (2, 6))
"""Of the standard pattern, in 1/16 pixel."""
MULTISAMPLED = RasterizerDesc(CullMode=1, MultisampleEnable=1)
HALF = [[x, y, 0.5, 1, 1, 1, 1, 1] for x, y in ((-1, 1), (0.03125, 1), (-1, -1), (0.03125, -1))]
"""Over columns 0 to 7, and the first quarter of column 8."""


class Sampled(Rendering):
    """Draws to four samples of 32 bits each, which are read one by one."""

    def __init__(self, format: DxgiFormat = F.R32_UINT) -> None:
        super().__init__(adapter=Adapter(Gpu(run=engine(CHECKED)), checking=True))
        self.resource = self.texture(
            format, bind=BindFlag.RENDER_TARGET | BindFlag.SHADER_RESOURCE, samples=SAMPLES
        )
        self.view = self.target(self.resource, format)

    def run(
        self,
        code: bytes,
        vertices: Sequence[Sequence[float]] | None = None,
        *,
        sample_mask: int = 0xF,
        blend: BlendDesc1 | None = None,
        raster: RasterizerDesc = MULTISAMPLED,
    ) -> NDArray[np.uint32]:
        """The words of all samples, shape (SIZE, SIZE, SAMPLES)."""
        self.prepare(raster=raster, sample_mask=sample_mask, blend=blend)
        self.call("VsSetShader", self.make("VertexShader", tokens("vs_pass")))
        self.call("PsSetShader", self.make("PixelShader", code))
        self.vertices(strip() if vertices is None else vertices)
        self.call("SetRenderTargets", [self.view], 7, None)
        self.call("Draw", 4, 0)
        self.call("Flush")
        self.adapter.gpu.finish()
        surface = self.device._parts.resources.objects.open(self.resource, "a test").surface
        return surface.data.view(np.uint32).reshape(SIZE, SIZE, SAMPLES)


INDEX = "dcl_input_ps_sgv constant v1.x, sampleIndex"


def test_a_program_that_asks_for_its_sample_runs_for_each() -> None:
    driven = Sampled()
    found = driven.run(ps(["iadd o0, v1.xxxx, l(7, 7, 7, 7)"], INDEX))
    assert (found == np.arange(7, 7 + SAMPLES)).all()
    assert driven.device.statistics()[7] == SIZE * SIZE * SAMPLES


def test_what_is_of_samples_is_taken_there() -> None:
    head = "dcl_input_ps linear noperspective sample v1.xy"
    ramp = [[x, y, 0.5, 1, 8 * (x + 1), 8 * (1 - y), 0, 0] for x, y, *_ in strip()]
    code = ps(["mov o0, v1.xxxx"], head, "ps_4_1")
    found = Sampled(F.R32_FLOAT).run(code, ramp).view(np.float32)
    code = ps(["mov o0, v1.yyyy"], head, "ps_4_1")
    down = Sampled(F.R32_FLOAT).run(code, ramp).view(np.float32)
    for sample, (x, y) in enumerate(PLACES):
        columns = np.arange(SIZE) + 0.5 + x / 16
        assert (found[3, :, sample] == columns).all()
        assert (down[:, 3, sample] == np.arange(SIZE) + 0.5 + y / 16).all()


def test_a_position_of_samples_is_the_place_of_the_sample() -> None:
    head = "dcl_input_ps_siv linear noperspective sample v1.xyzw, position"
    ramp = [[x * w, y * w, w * (x + 1) / 4, w, 0, 0, 0, 0]
            for x, y, *_ in strip() for w in [1.5 + x / 2]]  # fmt: skip
    x, y, z, w = (
        Sampled(F.R32_FLOAT).run(ps([f"mov o0, v1.{c}"], head, "ps_4_1"), ramp).view(np.float32)
        for c in "xyzw"
    )
    for sample, (across, down) in enumerate(PLACES):
        columns = np.arange(SIZE) + 0.5 + across / 16
        assert (x[3, :, sample] == columns).all()
        assert (y[:, 3, sample] == np.arange(SIZE) + 0.5 + down / 16).all()
        assert z[3, :, sample] == pytest.approx(columns / SIZE / 2, abs=1e-6)
        # 1 / w is linear across the screen: from 1 at the left edge to 1 / 2 at the right one.
        assert w[3, :, sample] == pytest.approx(1 / (1 - columns / SIZE / 2), abs=1e-5)


def test_a_position_of_centroids_is_the_place_of_the_centroid() -> None:
    head = "dcl_input_ps_siv linear noperspective centroid v1.xyzw, position"
    found = Sampled(F.R32_FLOAT).run(ps(["mov o0, v1.xxxx"], head), HALF).view(np.float32)
    assert found[0, 0].tolist() == [0.5] * SAMPLES
    assert found[0, 8].tolist() == [0, 0, 8.5 - 6 / 16, 0]


@pytest.mark.parametrize(
    ("line", "head"),
    [
        ("mov o0, v1.xxxx", "dcl_input_ps linear noperspective centroid v1.x"),
        ("eval_centroid o0, v1.xxxx", "dcl_input_ps linear noperspective v1.x"),
    ],
)
def test_a_centroid_is_the_first_covered_sample_unless_all_are_covered(
    line: str, head: str
) -> None:
    # Up to 11/16 of column 8: its centre and all of its samples but the second are covered.
    edge = [[x, y, 0.5, 1, 16 * (x + 1) / 2, 0, 0, 0]
            for x, y in ((-1, 1), (0.0859375, 1), (-1, -3), (0.0859375, -3))]  # fmt: skip
    found = Sampled(F.R32_FLOAT).run(ps([line], head), edge).view(np.float32)
    assert found[15, 7].tolist() == [7.5] * SAMPLES
    assert found[15, 8].tolist() == [8.5 - 2 / 16, 0, 8.5 - 2 / 16, 8.5 - 2 / 16]


def test_the_rest_is_taken_at_the_centre_even_by_sample() -> None:
    head = INDEX.replace("v1", "v2") + "\ndcl_input_ps linear noperspective v1.x"
    ramp = [[x, y, 0.5, 1, 8 * (x + 1), 0, 0, 0] for x, y, *_ in strip()]
    found = Sampled(F.R32_FLOAT).run(ps(["mov o0, v1.xxxx"], head), ramp).view(np.float32)
    assert (found[5] == (np.arange(SIZE) + 0.5)[:, None]).all()


def test_differences_of_a_sample_are_of_the_same_sample_beside_it() -> None:
    head = "dcl_input_ps linear noperspective sample v1.x"
    ramp = [[x, y, 0.5, 1, 16 * (x + 1), 0, 0, 0] for x, y, *_ in strip()]
    code = ps(["deriv_rtx o0, v1.xxxx"], head, "ps_4_1")
    found = Sampled(F.R32_FLOAT).run(code, ramp).view(np.float32)
    assert (found == 2.0).all()


def test_the_coverage_of_a_pixel_is_what_is_covered_and_permitted() -> None:
    code = ps(["mov o0, vCoverage.xxxx"], "dcl_input vCoverage")
    found = Sampled().run(code, HALF)
    own = 1 << np.arange(SAMPLES)
    # Where two triangles share a pixel each has its own samples.
    assert (found[:, :8] & own == own).all()
    assert (np.bitwise_or.reduce(found[:, :8], axis=2) == 0b1111).all()
    assert (found[0, 0] == 0b1111).all()
    assert (found[:, 8] == [0, 0, 0b0100, 0]).all()
    assert not found[:, 9:].any()
    cover = [[-1, 1], [3, 1], [-1, -3], [-1, -3]]
    whole = [[x, y, 0.5, 1, 0, 0, 0, 0] for x, y in cover]
    masked = Sampled().run(code, whole, sample_mask=0b0110)
    assert (masked == [0, 0b0110, 0b0110, 0]).all()


def test_samples_a_program_leaves_out_are_not_drawn_and_do_not_count() -> None:
    driven = Sampled()
    code = ps(["mov o0, l(9, 9, 9, 9)", "mov oMask, l(0xA)"], "dcl_output oMask", "ps_4_1")
    query = driven.create(Query.OCCLUSION)
    driven.call("QueryBegin", query)
    found = driven.run(code)
    driven.call("QueryEnd", query)
    assert (found == [0, 9, 0, 9]).all()
    driven.call("Flush")
    driven.adapter.gpu.finish()
    data = driven.data(query, Query.OCCLUSION)
    assert data == (SIZE * SIZE * 2).to_bytes(8, "little")


def test_a_written_mask_takes_the_place_of_alpha() -> None:
    code = ps(["mov o0, l(0, 0, 0, 0)", "mov oMask, l(0x1)"], "dcl_output oMask", "ps_4_1")
    found = Sampled(F.R8G8B8A8_UNORM).run(code, blend=BlendDesc1(AlphaToCoverageEnable=1))
    assert (found[..., 1:] == 0).all()
    white = ps(["mov o0, l(1.0, 1.0, 1.0, 0)", "mov oMask, l(0x4)"], "dcl_output oMask", "ps_4_1")
    found = Sampled(F.R8G8B8A8_UNORM).run(white, blend=BlendDesc1(AlphaToCoverageEnable=1))
    assert (found == [0, 0, 0xFFFFFF, 0]).all()


EARLY = "dcl_globalFlags refactoringAllowed | forceEarlyDepthStencil"
DISCARD = ["mov o0, l(1.0, 1.0, 1.0, 1.0)", "discard_nz l(-1)"]


@pytest.mark.parametrize("early", [False, True])
def test_forced_tests_come_before_a_program_that_discards(early: bool) -> None:
    """What it discards has passed, has written its depth and counts; it has no colour."""
    driven = Rendering(adapter=Adapter(Gpu(run=engine(CHECKED)), checking=True))
    color, buffer = driven.texture(), driven.texture(F.D32_FLOAT, bind=BindFlag.DEPTH_STENCIL)
    depth = driven.depth(buffer, F.D32_FLOAT)
    driven.call("ClearDepthStencilView", depth, 1, 1.0, 0)
    driven.prepare(depth=DepthStencilDesc(DepthEnable=1, DepthWriteMask=1, DepthFunc=2))
    driven.call("VsSetShader", driven.make("VertexShader", tokens("vs_pass")))
    code = ps(DISCARD, EARLY if early else "")
    driven.call("PsSetShader", driven.make("PixelShader", code))
    driven.vertices(strip(z=0.25))
    driven.call("SetRenderTargets", [driven.target(color)], 7, depth)
    query = driven.create(Query.OCCLUSION)
    driven.call("QueryBegin", query)
    driven.call("Draw", 4, 0)
    driven.call("QueryEnd", query)
    assert not driven.pixels(color).any()
    written = driven.pixels(buffer).view(np.float32)
    assert (written == (0.25 if early else 1.0)).all()
    data = driven.data(query, Query.OCCLUSION)
    assert data == (SIZE * SIZE if early else 0).to_bytes(8, "little")


def test_of_two_fragments_that_pass_early_the_one_that_is_not_discarded_is_seen() -> None:
    """The second of two strips discards what the first has drawn over."""
    text = ps(
        ["lt r1.x, v1.x, l(0.5)", "discard_nz r1.x", "mov o0, v1"],
        EARLY + "\ndcl_input_ps linear v1.xyzw",
    )
    driven = Rendering(adapter=Adapter(Gpu(run=engine(CHECKED)), checking=True))
    color = driven.texture()
    driven.prepare()
    driven.call("VsSetShader", driven.make("VertexShader", tokens("vs_pass")))
    driven.call("PsSetShader", driven.make("PixelShader", text))
    first, second = strip((1, 1, 1, 1)), strip((0, 0, 0, 0))
    driven.vertices([*first, first[-1], second[0], *second])
    driven.call("SetRenderTargets", [driven.target(color)], 7, None)
    driven.call("Draw", 10, 0)
    assert (driven.pixels(color) == 0xFFFFFFFF).all()


RAMP = [[x, y, 0.5, 1, 8 * (x + 1), 8 * (1 - y), 0, 0] for x, y, *_ in strip()]
ACROSS = "dcl_input_ps linear noperspective v1.xy"


@pytest.mark.parametrize("sample", range(SAMPLES))
def test_inputs_are_evaluated_at_any_sample(sample: int) -> None:
    code = ps([f"eval_sample_index o0, v1.xyxy, l({sample})"], ACROSS)
    found = Sampled(F.R32_FLOAT).run(code, RAMP).view(np.float32)
    assert (found[3] == (np.arange(SIZE) + 0.5 + PLACES[sample][0] / 16)[:, None]).all()
    code = ps([f"eval_sample_index o0, v1.yxyx, l({sample})"], ACROSS)
    found = Sampled(F.R32_FLOAT).run(code, RAMP).view(np.float32)
    assert (found[:, 3] == (np.arange(SIZE) + 0.5 + PLACES[sample][1] / 16)[:, None]).all()


@pytest.mark.parametrize(("x", "y"), [(-8, 7), (7, -8), (0, 0), (3, 24)])
def test_inputs_are_evaluated_in_sixteenths_of_a_pixel(x: int, y: int) -> None:
    """Of an offset four bits count."""
    down = (y + 8) % 16 - 8
    code = ps(
        [f"mov r1, l({x}, {y}, 0, 0)", "if_nz r0.x", "eval_snapped o0, v1.xyxy, r1.xyxx",
         "else", "eval_snapped o0, v1.yyyy, r1.xyxx", "endif"],
        ACROSS,
    )  # fmt: skip
    found = Sampled(F.R32_FLOAT).run(code, RAMP).view(np.float32)
    assert (found[3, 1:] == (np.arange(1, SIZE) + 0.5 + x / 16)[:, None]).all()
    assert (found[:, 0] == (np.arange(SIZE) + 0.5 + down / 16)[:, None]).all()


def test_evaluation_keeps_perspective() -> None:
    corners = [[x * w, y * w, 0.5 * w, w, 1 / w, 0, 0, 0] for (x, y, *_), w in
               zip(strip(), (1, 2, 1, 2), strict=True)]  # fmt: skip
    head = "dcl_input_ps linear v1.xy"
    centre = Sampled(F.R32_FLOAT).run(
        ps(["eval_snapped o0, v1.xxxx, l(0, 0, 0, 0)"], head), corners
    )
    plain = Sampled(F.R32_FLOAT).run(ps(["mov o0, v1.xxxx"], head), corners)
    assert (centre == plain).all()
    assert len(set(centre[3, :, 0].tolist())) == SIZE
