"""The opcode table against a second one, written down apart from it."""

from __future__ import annotations

import pytest

from dp2emu.shader.sm.opcodes import Op, Opcode
from dp2emu.shader.sm.versions import BY_NAME, VERSIONS, Version

NEVER = "-"

ROWS = """\
0 nop 0 0 vs_1_0 ps_1_0
1 mov 1 1 vs_1_0 ps_1_0
2 add 1 2 vs_1_0 ps_1_0
3 sub 1 2 vs_1_0 ps_1_0
4 mad 1 3 vs_1_0 ps_1_0
5 mul 1 2 vs_1_0 ps_1_0
6 rcp 1 1 vs_1_0 ps_2_0
7 rsq 1 1 vs_1_0 ps_2_0
8 dp3 1 2 vs_1_0 ps_1_0
9 dp4 1 2 vs_1_0 ps_1_2
10 min 1 2 vs_1_0 ps_2_0
11 max 1 2 vs_1_0 ps_2_0
12 slt 1 2 vs_1_0 -
13 sge 1 2 vs_1_0 -
14 exp 1 1 vs_1_0 ps_2_0
15 log 1 1 vs_1_0 ps_2_0
16 lit 1 1 vs_1_0 -
17 dst 1 2 vs_1_0 -
18 lrp 1 3 vs_2_0 ps_1_0
19 frc 1 1 vs_1_0 ps_2_0
20 m4x4 1 2 vs_1_0 ps_2_0
21 m4x3 1 2 vs_1_0 ps_2_0
22 m3x4 1 2 vs_1_0 ps_2_0
23 m3x3 1 2 vs_1_0 ps_2_0
24 m3x2 1 2 vs_1_0 ps_2_0
25 call 0 1 vs_2_0 ps_2_x
26 callnz 0 2 vs_2_0 ps_2_x
27 loop 0 2 vs_2_0 ps_3_0
28 ret 0 0 vs_2_0 ps_2_x
29 endloop 0 0 vs_2_0 ps_3_0
30 label 0 1 vs_2_0 ps_2_x
31 dcl 1 0 vs_1_0 ps_2_0
32 pow 1 2 vs_2_0 ps_2_0
33 crs 1 2 vs_2_0 ps_2_0
34 sgn 1 3 vs_2_0 -
35 abs 1 1 vs_2_0 ps_2_0
36 nrm 1 1 vs_2_0 ps_2_0
37 sincos 1 3 vs_2_0 ps_2_0
38 rep 0 1 vs_2_0 ps_2_x
39 endrep 0 0 vs_2_0 ps_2_x
40 if 0 1 vs_2_0 ps_2_x
41 if 0 2 vs_2_x ps_2_x
42 else 0 0 vs_2_0 ps_2_x
43 endif 0 0 vs_2_0 ps_2_x
44 break 0 0 vs_2_x ps_2_x
45 break 0 2 vs_2_x ps_2_x
46 mova 1 1 vs_2_0 -
47 defb 1 0 vs_2_0 ps_2_x
48 defi 1 0 vs_2_0 ps_2_x
64 texcoord 1 0 - ps_1_0
65 texkill 1 0 - ps_1_0
66 tex 1 0 - ps_1_0
67 texbem 1 1 - ps_1_0
68 texbeml 1 1 - ps_1_0
69 texreg2ar 1 1 - ps_1_0
70 texreg2gb 1 1 - ps_1_0
71 texm3x2pad 1 1 - ps_1_0
72 texm3x2tex 1 1 - ps_1_0
73 texm3x3pad 1 1 - ps_1_0
74 texm3x3tex 1 1 - ps_1_0
76 texm3x3spec 1 2 - ps_1_0
77 texm3x3vspec 1 1 - ps_1_0
78 expp 1 1 vs_1_0 -
79 logp 1 1 vs_1_0 -
80 cnd 1 3 - ps_1_0
81 def 1 0 vs_1_0 ps_1_0
82 texreg2rgb 1 1 - ps_1_2
83 texdp3tex 1 1 - ps_1_2
84 texm3x2depth 1 1 - ps_1_3
85 texdp3 1 1 - ps_1_2
86 texm3x3 1 1 - ps_1_2
87 texdepth 1 0 - ps_1_4
88 cmp 1 3 - ps_1_2
89 bem 1 2 - ps_1_4
90 dp2add 1 3 - ps_2_0
91 dsx 1 1 - ps_2_x
92 dsy 1 1 - ps_2_x
93 texldd 1 4 - ps_2_x
94 setp 1 2 vs_2_x ps_2_x
95 texldl 1 2 vs_3_0 ps_3_0
96 breakp 0 1 vs_2_x ps_2_x
65533 phase 0 0 - ps_1_4
"""
"""Number, name, destinations, sources, first vertex and pixel version."""

CELLS = [line.split() for line in ROWS.splitlines()]

LAST = {
    "ps_1_3": "texbem texbeml texreg2ar texreg2gb texm3x2pad texm3x2tex texm3x3pad texm3x3tex "
    "texm3x3spec texm3x3vspec texreg2rgb texdp3tex texm3x2depth texdp3 texm3x3",
    "ps_1_4": "cnd texdepth bem phase texcrd",
}
"""Pixel opcodes that end, with the last version that has them."""

LATER = {
    ("texcoord", "ps_1_4"): ("texcrd", 1, 1),
    ("tex", "ps_1_4"): ("texld", 1, 1),
    ("tex", "ps_2_0"): ("texld", 1, 2),
    ("sgn", "vs_3_0"): ("sgn", 1, 1),
    ("sincos", "vs_3_0"): ("sincos", 1, 1),
    ("sincos", "ps_3_0"): ("sincos", 1, 1),
}
"""Opcodes that change from some version on: name, destinations, sources."""


def shape(row: Opcode, version: Version) -> tuple[str, int, int] | None:
    form = row.form(version)
    return form and (form.name, len(form.destination), len(form.sources))


def first(row: Opcode, stage: str) -> str:
    having = [v.name for v in VERSIONS if v.name.startswith(stage) and row.form(v)]
    return having[0] if having else NEVER


def test_opcodes_are_exactly_these() -> None:
    assert [int(number) for number, *_ in CELLS] == list(Op)


@pytest.mark.parametrize("cells", CELLS, ids=[f"{cells[0]}-{cells[1]}" for cells in CELLS])
def test_row_has_its_name_operands_and_first_versions(cells: list[str]) -> None:
    number, name, destinations, sources, vertex, pixel = cells
    row = Op(int(number)).row
    assert (first(row, "vs"), first(row, "ps")) == (vertex, pixel)
    for version in (vertex, pixel):
        if version != NEVER:
            expected = (name, int(destinations), int(sources))
            assert shape(row, BY_NAME[version]) == expected


@pytest.mark.parametrize(("name", "version"), LATER)
def test_row_changes_with_the_version(name: str, version: str) -> None:
    number = next(int(cells[0]) for cells in CELLS if cells[1] == name)
    assert shape(Op(number).row, BY_NAME[version]) == LATER[name, version]


def test_opcodes_of_is_ps_1_x_shaders_end() -> None:
    pixel = [version for version in VERSIONS if version.name.startswith("ps")]
    ends: dict[str, set[str]] = {}
    for row in (op.row for op in Op):
        having = [version for version in pixel if row.form(version)]
        if having and having[-1] is not pixel[-1]:
            form = row.form(having[-1])
            assert form is not None
            ends.setdefault(having[-1].name, set()).add(form.name)
    assert ends == {version: set(names.split()) for version, names in LAST.items()}


def test_matrices_read_as_many_registers_as_they_have_rows() -> None:
    rows = {op.name: op.row.rows for op in Op if op.row.rows > 1}
    assert rows == {"M4x4": 4, "M4x3": 3, "M3x4": 4, "M3x3": 3, "M3x2": 2}


def test_constants_are_four_words_or_one() -> None:
    assert {op.name: op.row.raw for op in Op if op.row.raw} == {"DEF": 4, "DEFI": 4, "DEFB": 1}
