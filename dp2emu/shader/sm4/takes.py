"""Which resources opcodes work on (SM4-5 tokens, "Reading resources" and "Declarations")."""

from __future__ import annotations

from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4.ops import Op

KINDS: dict[Op, Dimension | None] = {
    Op.DCL_CONSTANTBUFFER: None,
    Op.DCL_SAMPLER: None,
    Op.DCL_RESOURCE: None,
    Op.DCL_UAV_TYPED: None,
    Op.DCL_RESOURCE_RAW: Dimension.RAW_BUFFER,
    Op.DCL_UAV_RAW: Dimension.RAW_BUFFER,
    Op.DCL_TGSM_RAW: Dimension.RAW_BUFFER,
    Op.DCL_RESOURCE_STRUCTURED: Dimension.STRUCTURED_BUFFER,
    Op.DCL_UAV_STRUCTURED: Dimension.STRUCTURED_BUFFER,
    Op.DCL_TGSM_STRUCTURED: Dimension.STRUCTURED_BUFFER,
}
"""What declares a register that has to be declared once; None where it tells the dimension."""

_MULTISAMPLED = frozenset({Dimension.TEXTURE2DMS, Dimension.TEXTURE2DMSARRAY})
_CUBES = frozenset({Dimension.TEXTURECUBE, Dimension.TEXTURECUBEARRAY})
_RAW, _STRUCTURED = frozenset({Dimension.RAW_BUFFER}), frozenset({Dimension.STRUCTURED_BUFFER})
_TYPED = frozenset(Dimension) - _RAW - _STRUCTURED
_SAMPLED = _TYPED - _MULTISAMPLED - {Dimension.BUFFER}
_COMPARED = _SAMPLED - {Dimension.TEXTURE3D}
_GATHERED = _CUBES | {Dimension.TEXTURE2D, Dimension.TEXTURE2DARRAY}
_LOADED = _TYPED - _MULTISAMPLED - _CUBES
_COUNTED = _RAW | _STRUCTURED | {Dimension.BUFFER}

_COMPARISONS = (Op.SAMPLE_C, Op.SAMPLE_C_LZ, Op.SAMPLE_C_LZ_S, Op.SAMPLE_C_CL_S)
_SAMPLES = (
    Op.SAMPLE,
    Op.SAMPLE_L,
    Op.SAMPLE_D,
    Op.SAMPLE_B,
    Op.LOD,
    Op.SAMPLE_L_S,
    Op.SAMPLE_CL_S,
    Op.SAMPLE_B_CL_S,
    Op.SAMPLE_D_CL_S,
)
_GATHERS = (
    Op.GATHER4,
    Op.GATHER4_C,
    Op.GATHER4_PO,
    Op.GATHER4_PO_C,
    Op.GATHER4_S,
    Op.GATHER4_C_S,
    Op.GATHER4_PO_S,
    Op.GATHER4_PO_C_S,
)

TAKES: dict[Op, frozenset[Dimension]] = {
    **dict.fromkeys(_SAMPLES, _SAMPLED),
    **dict.fromkeys(_COMPARISONS, _COMPARED),
    **dict.fromkeys(_GATHERS, _GATHERED),
    **dict.fromkeys((Op.LD, Op.LD_S), _LOADED),
    **dict.fromkeys((Op.LDMS, Op.LDMS_S, Op.SAMPLEINFO, Op.SAMPLEPOS), _MULTISAMPLED),
    **dict.fromkeys((Op.LD_RAW, Op.LD_RAW_S, Op.STORE_RAW), _RAW),
    **dict.fromkeys((Op.LD_STRUCTURED, Op.LD_STRUCTURED_S, Op.STORE_STRUCTURED), _STRUCTURED),
    **dict.fromkeys((Op.LD_UAV_TYPED, Op.LD_UAV_TYPED_S, Op.STORE_UAV_TYPED), _LOADED),
    **dict.fromkeys((Op.IMM_ATOMIC_ALLOC, Op.IMM_ATOMIC_CONSUME), _STRUCTURED),
    Op.RESINFO: _TYPED,
    Op.BUFINFO: _COUNTED,
}
"""The dimensions an opcode takes; one that is not here takes any."""
