"""Assembly text of shaders that grow: n statements of some kind of shader models 1 to 5."""

from __future__ import annotations

from collections.abc import Callable

Text = Callable[[int], str]
"""The text of a shader with n statements of a kind."""


def _ps3(*declarations: str) -> Callable[[Callable[[int], list[str]]], Text]:
    """Decorator: lines of a body to a ps_3_0 shader around it."""

    def decorate(body: Callable[[int], list[str]]) -> Text:
        head = ["ps_3_0", "dcl_color v0", *declarations, "mov r0, v0", "mov r1, c1"]
        return lambda n: "\n".join([*head, *body(n), "mov oC0, r0"])

    return decorate


def _repeated(*lines: str) -> Callable[[int], list[str]]:
    return lambda n: [line for _ in range(n) for line in lines]


def _nest(opener: str, inside: str, closer: str, most: int) -> Callable[[int], list[str]]:
    """n lines in nests of at most ``most`` blocks, one nest after another."""

    def lines(n: int) -> list[str]:
        found = []
        for first in range(0, n, most):
            depth = min(most, n - first)
            found += [line for _ in range(depth) for line in (opener, inside)]
            found += [closer] * depth
        return found

    return lines


def _subroutines(n: int) -> str:
    calls = [f"call l{number}" for number in range(n)]
    bodies = [line for number in range(n)
              for line in (f"label l{number}", "mad r0, r0, c0, r1", "ret")]  # fmt: skip
    head = ["vs_3_0", "dcl_position v0", "dcl_position o0", "mov r0, v0", "mov r1, c1"]
    return "\n".join([*head, *calls, "mov o0, r0", "ret", *bodies])


def _constants(n: int) -> str:
    definitions = [f"def c{number}, 1.0, 2.0, 3.0, {number}.5" for number in range(n)]
    uses = [f"mad r0, r0, c{number}, r1" for number in range(n)]
    head = ["ps_3_0", "dcl_color v0", *definitions, "mov r0, v0", "mov r1, c223"]
    return "\n".join([*head, *uses, "mov oC0, r0"])


def _declarations(n: int) -> str:
    """Declarations and reads of up to 16 vertex inputs, by component."""
    parts = [(number, "xyzw"[part]) for number in range(16) for part in range(4)][:n]
    declared = [f"dcl_texcoord{at % 16} v{number}.{part}"
                for at, (number, part) in enumerate(parts)]  # fmt: skip
    uses = [f"add r0, r0, v{number}.{part}" for number, part in parts]
    head = ["vs_3_0", "dcl_position o0"]
    return "\n".join([*head, *declared, "mov r0, c0", *uses, "mov o0, r0"])


def _registers(n: int) -> list[str]:
    """Writes of up to 30 registers in turn, each read by the next."""
    return [f"mad r{number % 30 + 2}, r{(number + 7) % 30 + 2}, c{number % 200}, r1"
            for number in range(n)]  # fmt: skip


CODE3: dict[str, Text] = {
    "chain": _ps3()(_repeated("mad r0, r0, c0, r1")),
    "registers": _ps3()(_registers),
    "matrices": lambda n: "\n".join(
        [
            "vs_2_0",
            "dcl_position v0",
            "mov r0, v0",
            *["m4x4 r1, r0, c0", "mov r0, r1"] * n,
            "mov oPos, r0",
        ]
    ),
    "formulas": _ps3()(_repeated("sincos r0.xy, r0.x", "pow r0.z, r0.x, r0.y", "nrm r1, r0")),
    "constants": _constants,
    "declarations": _declarations,
    "texture reads": _ps3("dcl_2d s0", "dcl_cube s1")(
        _repeated("texld r0, r0, s0", "texldl r1, r0, s1")
    ),
    "derivatives": _ps3()(_repeated("dsx r0, r0", "dsy r1, r0")),
    "kills": _ps3()(_repeated("add r0, r0, r1", "texkill r0")),
    "indexed constants": lambda n: "\n".join(
        [
            "vs_2_0",
            "dcl_position v0",
            "mov r0, v0",
            *["mova a0, r0", "add r0, r0, c[a0.x]"] * n,
            "mov oPos, r0",
        ]
    ),
    "ifs": _ps3()(
        _repeated("if_lt r0.x, r1.y", "add r0, r0, r1", "else", "mul r0, r0, r1", "endif")
    ),
    "nested ifs": _ps3()(_nest("if_lt r0.x, r1.y", "add r0, r0, r1", "endif", 24)),
    "static ifs": _ps3()(_nest("if b0", "add r0, r0, r1", "endif", 24)),
    "loops": _ps3("defi i0, 4, 0, 1, 0")(_repeated("rep i0", "add r0, r0, r1", "endrep")),
    "nested loops": _ps3("defi i0, 4, 0, 1, 0")(_nest("rep i0", "add r0, r0, r1", "endrep", 4)),
    "breaks": _ps3("defi i0, 4, 0, 1, 0")(
        lambda n: ["rep i0", *["add r0, r0, r1", "break_lt r0.x, r1.y"] * n, "endrep"]
    ),
    "predicates": _ps3()(_repeated("setp_lt p0, r0, r1", "(p0) add r0, r0, r1")),
    "subroutines": _subroutines,
    "calls of one subroutine": lambda n: "\n".join(
        [
            "vs_2_0",
            "dcl_position v0",
            "mov r0, v0",
            *["call l0"] * n,
            "mov oPos, r0",
            "ret",
            "label l0",
            "add r0, r0, c0",
            "ret",
        ]
    ),
    "comments": lambda n: "\n".join(
        ["vs_1_1", *["comment 1", "dword 0x12345678"] * n, "mov oPos, v0"]
    ),
}
"""Texts of shader models 1 to 3, by a name for the kind of statement."""


def _ps4(*declarations: str, version: str = "ps_5_0") -> Callable[..., Text]:
    def decorate(body: Callable[[int], list[str]], tail: tuple[str, ...] = ()) -> Text:
        head = [version, "dcl_constantbuffer cb0[64], dynamicIndexed", *declarations,
                "dcl_input_ps linear v0.xyzw", "dcl_output o0.xyzw", "dcl_temps 8",
                "mov r0.xyzw, v0.xyzw", "mov r1.xyzw, cb0[1].xyzw"]  # fmt: skip
        return lambda n: "\n".join([*head, *body(n), "mov o0.xyzw, r0.xyzw", "ret", *tail])

    return decorate


def _switch(n: int) -> list[str]:
    cases = [line for number in range(n)
             for line in (f"case l({number})", "add r0.x, r0.x, r1.y", "break")]  # fmt: skip
    return ["switch r1.x", *cases, "default", "mov r0.x, l(2.0)", "break", "endswitch"]


def _falling(n: int) -> list[str]:
    cases = [f"case l({number})" for number in range(n)]
    return ["switch r1.x", *cases, "add r0.x, r0.x, r1.y", "default", "break", "endswitch"]


def _labels4(n: int) -> str:
    calls = [f"call l{number}" for number in range(n)]
    bodies = [line for number in range(n)
              for line in (f"label l{number}", "add r0.x, r0.x, r1.y", "ret")]  # fmt: skip
    head = ["vs_5_0", "dcl_input v0.xyzw", "dcl_output_siv o0.xyzw, position", "dcl_temps 2",
            "mov r0.xyzw, v0.xyzw"]  # fmt: skip
    return "\n".join([*head, *calls, "mov o0.xyzw, r0.xyzw", "ret", *bodies])


def _arrays(n: int) -> str:
    declared = [f"dcl_indexableTemp x{number}[4], 4" for number in range(n)]
    uses = [line for number in range(n)
            for line in (f"mov x{number}[r1.x + 1].xyzw, r0.xyzw",
                         f"add r0.xyzw, r0.xyzw, x{number}[2].xyzw")]  # fmt: skip
    head = ["ps_4_0", "dcl_input_ps linear v0.xyzw", "dcl_output o0.xyzw", "dcl_temps 2"]
    return "\n".join([*head, *declared, "mov r0.xyzw, v0.xyzw", *uses, "mov o0.xyzw, r0.xyzw",
                      "ret"])  # fmt: skip


def _temps(n: int) -> str:
    uses = [f"mad r{number + 1}.xyzw, r{number}.xyzw, r{number // 2}.yzwx, r0.xyzw"
            for number in range(n)]  # fmt: skip
    head = ["ps_4_0", "dcl_input_ps linear v0.xyzw", "dcl_output o0.xyzw", f"dcl_temps {n + 1}"]
    return "\n".join([*head, "mov r0.xyzw, v0.xyzw", *uses, f"mov o0.xyzw, r{n}.xyzw", "ret"])


def _immediates(n: int) -> str:
    rows = ", ".join(f"{{ {number}.0, 1.0, 2.0, 3.0 }}" for number in range(n))
    head = ["ps_4_0", f"dcl_immediateConstantBuffer {{ {rows} }}",
            "dcl_input_ps linear v0.xyzw", "dcl_output o0.xyzw", "dcl_temps 2",
            "mov r0.xyzw, v0.xyzw"]  # fmt: skip
    uses = ["add r0.xyzw, r0.xyzw, icb[r0.x + 1].xyzw"] * n
    return "\n".join([*head, *uses, "mov o0.xyzw, r0.xyzw", "ret"])


def _resources(n: int) -> str:
    used = range(min(n, 128))
    declared = [f"dcl_resource_texture2d (float,float,float,float) t{number}" for number in used]
    head = ["ps_5_0", "dcl_sampler s0, mode_default", *declared, "dcl_input_ps linear v0.xyzw",
            "dcl_output o0.xyzw", "dcl_temps 2", "mov r0.xyzw, v0.xyzw"]  # fmt: skip
    uses = [f"sample r0.xyzw, r0.xyxx, t{number % 128}.xyzw, s0" for number in range(n)]
    return "\n".join([*head, *uses, "mov o0.xyzw, r0.xyzw", "ret"])


def _emits(n: int) -> str:
    head = ["gs_5_0", "dcl_inputprimitive point", "dcl_outputtopology pointlist",
            "dcl_maxout 128", "dcl_input v[1][0].xyzw", "dcl_stream m0",
            "dcl_output_siv o0.xyzw, position", "dcl_temps 1"]  # fmt: skip
    uses = ["mov o0.xyzw, v[0][0].xyzw", "emit_stream m0"] * n
    return "\n".join([*head, *uses, "ret"])


def _phases(n: int) -> str:
    """A hull shader with n inputs that all its n fork phases see."""
    declared = ["dcl_input_control_point_count 3", "dcl_output_control_point_count 3",
                "dcl_tessellator_domain domain_tri",
                "dcl_tessellator_partitioning partitioning_integer",
                "dcl_tessellator_output_primitive output_triangle_cw"]  # fmt: skip
    declared += [f"dcl_constantbuffer cb{number % 14}[4], immediateIndexed"
                 for number in range(min(n, 14))]  # fmt: skip
    phases = [line for _ in range(n)
              for line in ("hs_fork_phase", "dcl_temps 1", "mov r0.x, l(1.0)",
                           "ret")]  # fmt: skip
    return "\n".join(["hs_5_0", "hs_decls", *declared, *phases])


def _evaluations(n: int) -> str:
    """Inputs declared again and again, and evaluated at the centroid."""
    declared = ["dcl_input_ps linear v0.xyzw"] * n
    head = ["ps_5_0", *declared, "dcl_output o0.xyzw", "dcl_temps 2"]
    uses = ["eval_centroid r0.xyzw, v0.xyzw"] * n
    return "\n".join([*head, *uses, "mov o0.xyzw, r0.xyzw", "ret"])


_ADD = "add r0.xyzw, r0.xyzw, r1.xyzw"

CODE4: dict[str, Text] = {
    "chain": _ps4()(_repeated("mad r0.xyzw, r0.xyzw, cb0[0].xyzw, r1.xyzw")),
    "integers": _ps4()(
        _repeated("imad r0.xyzw, r0.xyzw, r1.xyzw, l(1, 2, 3, 4)", "udiv r0.x, r0.y, r0.x, r1.x")
    ),
    "doubles": _ps4("dcl_globalFlags enableDoublePrecisionFloatOps")(
        _repeated("dadd r0.xyzw, r0.xyzw, r1.xyzw", "dmul r1.xy, r0.xyxy, r1.xyxy")
    ),
    "formulas": _ps4()(_repeated("sincos r0.x, r0.y, r0.x", "log r0.z, r0.x", "exp r0.w, r0.z")),
    "temporaries": _temps,
    "indexable temporaries": _arrays,
    "immediate constants": _immediates,
    "indexed constants": _ps4()(_repeated("mov r0.xyzw, cb0[r0.x + 3].xyzw")),
    "textures": _resources,
    "ifs": _ps4()(_repeated("if_nz r0.x", _ADD, "else", "mul r0.xyzw, r0.xyzw, r1.xyzw", "endif")),
    "nested ifs": _ps4()(_nest("if_nz r0.x", _ADD, "endif", 60)),
    "loops": _ps4()(_repeated("loop", _ADD, "breakc_nz r0.x", "endloop")),
    "nested loops": _ps4()(_nest("loop", "breakc_nz r0.x", "endloop", 60)),
    "continues": _ps4()(lambda n: ["loop", *[_ADD, "continuec_nz r0.x"] * n, "break", "endloop"]),
    "returns": _ps4()(_repeated(_ADD, "retc_nz r0.x")),
    "switch": _ps4()(_switch),
    "switch of one body": _ps4()(_falling),
    "switches": _ps4()(_repeated("switch r1.x", "case l(0)", _ADD, "break", "endswitch")),
    "discards": _ps4()(_repeated(_ADD, "discard_nz r0.x")),
    "functions": _labels4,
    "unordered access": _ps4("dcl_uav_raw u1")(
        _repeated("ld_raw r0.xyzw, r0.x, u1.xyzw", *[_ADD] * 6, "store_raw u1.x, r0.x, r1.x")
    ),
    "emits": _emits,
    "phases": _phases,
    "evaluations": _evaluations,
}
"""Texts of shader models 4 and 5, by a name for the kind of statement."""
