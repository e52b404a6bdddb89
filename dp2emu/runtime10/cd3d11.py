"""Descriptions of buffers and textures with the defaults of the SDK's constructors.

Source: the Direct3D 11 documentation of the helper structures CD3D11_BUFFER_DESC and
CD3D11_TEXTURE1D_DESC to CD3D11_TEXTURE3D_DESC.
"""

from __future__ import annotations

from dp2emu.argument_check import checked
from dp2emu.ddi10.resources.resource import Usage
from dp2emu.runtime10.descriptions import (
    BufferDesc,
    SampleDesc,
    Texture1DDesc,
    Texture2DDesc,
    Texture3DDesc,
)
from dp2emu.runtime10.enums import BindFlag

_DEFAULT = int(Usage.DEFAULT)
_SHADER_RESOURCE = int(BindFlag.SHADER_RESOURCE)


@checked
def cd3d11_buffer_desc(
    byte_width: int,
    bind_flags: int,
    usage: int = _DEFAULT,
    cpu_access_flags: int = 0,
    misc_flags: int = 0,
    structure_byte_stride: int = 0,
) -> BufferDesc:
    """CD3D11_BUFFER_DESC: a buffer of ``byte_width`` bytes, with elements of
    ``structure_byte_stride`` bytes if it is structured.

    ``bind_flags``, ``usage``, ``cpu_access_flags`` and ``misc_flags`` are of D3D11_BIND_FLAG,
    D3D11_USAGE, D3D11_CPU_ACCESS_FLAG and D3D11_RESOURCE_MISC_FLAG.
    """
    return BufferDesc(
        byte_width, usage, bind_flags, cpu_access_flags, misc_flags, structure_byte_stride
    )


@checked
def cd3d11_texture1d_desc(
    format: int,
    width: int,
    array_size: int = 1,
    mip_levels: int = 0,
    bind_flags: int = _SHADER_RESOURCE,
    usage: int = _DEFAULT,
    cpu_access_flags: int = 0,
    misc_flags: int = 0,
) -> Texture1DDesc:
    """CD3D11_TEXTURE1D_DESC: by default a shader resource with all ``mip_levels``.

    ``width`` is in texels, ``array_size`` in slices, ``format`` is a DXGI_FORMAT;
    ``bind_flags``, ``usage``, ``cpu_access_flags`` and ``misc_flags`` are of D3D11_BIND_FLAG,
    D3D11_USAGE, D3D11_CPU_ACCESS_FLAG and D3D11_RESOURCE_MISC_FLAG.
    """
    return Texture1DDesc(
        width, mip_levels, array_size, format, usage, bind_flags, cpu_access_flags, misc_flags
    )


@checked
def cd3d11_texture2d_desc(
    format: int,
    width: int,
    height: int,
    array_size: int = 1,
    mip_levels: int = 0,
    bind_flags: int = _SHADER_RESOURCE,
    usage: int = _DEFAULT,
    cpu_access_flags: int = 0,
    sample_count: int = 1,
    sample_quality: int = 0,
    misc_flags: int = 0,
) -> Texture2DDesc:
    """CD3D11_TEXTURE2D_DESC: by default a shader resource with all ``mip_levels``.

    ``width`` and ``height`` are in texels, ``array_size`` in slices, ``format`` is a DXGI_FORMAT;
    ``sample_count`` and ``sample_quality`` are the members of DXGI_SAMPLE_DESC;
    ``bind_flags``, ``usage``, ``cpu_access_flags`` and ``misc_flags`` are of D3D11_BIND_FLAG,
    D3D11_USAGE, D3D11_CPU_ACCESS_FLAG and D3D11_RESOURCE_MISC_FLAG.
    """
    samples = SampleDesc(sample_count, sample_quality)
    return Texture2DDesc(
        width, height, mip_levels, array_size, format, samples, usage, bind_flags,
        cpu_access_flags, misc_flags,
    )  # fmt: skip


@checked
def cd3d11_texture3d_desc(
    format: int,
    width: int,
    height: int,
    depth: int,
    mip_levels: int = 0,
    bind_flags: int = _SHADER_RESOURCE,
    usage: int = _DEFAULT,
    cpu_access_flags: int = 0,
    misc_flags: int = 0,
) -> Texture3DDesc:
    """CD3D11_TEXTURE3D_DESC: by default a shader resource with all ``mip_levels``.

    ``width``, ``height`` and ``depth`` are in texels, ``format`` is a DXGI_FORMAT;
    ``bind_flags``, ``usage``, ``cpu_access_flags`` and ``misc_flags`` are of D3D11_BIND_FLAG,
    D3D11_USAGE, D3D11_CPU_ACCESS_FLAG and D3D11_RESOURCE_MISC_FLAG.
    """
    return Texture3DDesc(
        width, height, depth, mip_levels, format, usage, bind_flags, cpu_access_flags, misc_flags
    )
