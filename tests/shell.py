"""The commands of README and documents, run by a shell, and what must come of them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dp2emu.capture.headers import INCLUDES
from tests.native.building import SAMPLE
from tests.tools.loading import ROOT


class Result(NamedTuple):
    """What a command must give: exit code, text on both outputs, and files that are not empty.

    ``out`` and ``err`` are regular expressions.  ``instead`` is run in place of a command that
    takes minutes, or needs a shell that few machines have; ``more`` are options added to it.
    """

    code: int = 0
    out: str = ""
    err: str = ""
    files: tuple[str, ...] = ()
    instead: str = ""
    more: str = ""


def in_driver(command: str, **expected: Any) -> Result:
    """The result of a command behind ``cd mydriver``."""
    return Result(instead=f"cd mydriver && {command}", **expected)


FEW = " --tries 40"
"""Option of ``minimize``, which else tries captures for a minute."""
PICTURE = "out/call000001_surface2.png"
FINE = r"2 calls, 2 of 2 answers as recorded, 2 of 2 queries answered.* 0 faults"
PIXEL = Result(out=r"E4 .*\n    primitive 0: written; [^$]*value: 0\.666667 0\.992157 0\.14902 1")
PASSED = Result(out=r"query +35 +0 +0 +0\nresponse +18 +0 +0 +0", err="53 passed, 0 failed")
GREEN = r"\nquery +[1-9]\d +0 +\d+ +\d+\nresponse +[1-9]\d +0 +0 +0\n"
SHADER = Result(files=("toon.bin",))
LISTED = Result(out=r"\Avs_\d_\d\n")
BATCH = Result(err="2 files: 2 fine", files=("results.jsonl",))
SCENE = Result(
    err="2 files, 8 query results",
    files=("results/query/occ_overlap_random.json", "results/query/occ_overlap_random.png",
           "scene.dp2"),
)  # fmt: skip

RUN = {
    # README
    "dp2emu replay streams/first_light.dp2 --png out": Result(err=FINE, files=(PICTURE,)),
    "dp2emu replay streams/first_light.dp2 --json -": Result(
        out=r'\A\{"schema": 1,\n"calls": \[\n\{"call": 0,[^$]*"summary": \{', err=FINE
    ),
    "dp2emu replay streams/first_light.dp2 --frames 0-9 --targets all --png out --sheet sheet.png":
        Result(err="3 pictures", files=(PICTURE, "sheet.png")),
    f"dp2emu diff-images docs/first_light.png {PICTURE}": Result(out=r"within\b"),
    "dp2emu replay streams/first_light.dp2 --raw first_light.rgb": Result(
        err="1 raw frame, rgb24, 320x240", files=("first_light.rgb",)
    ),
    "dp2emu replay streams/event_latency.dp2 --verify --timing "
    "fixed:call=1000,packet=4000,delivery=500":
        Result(err=r"14 of 14 answers as recorded.*14,000 ticks"),
    "dp2emu info streams/overlapping_queries.dp2 --tokens": Result(out=r"ISSUEQUERY +\d+"),
    "dp2emu state streams/overlapping_queries.dp2 --at 1:3": Result(
        out=r"call: 1\ntoken: 3\n[^$]*next: CREATEQUERY"
    ),
    "dp2emu pixel streams/first_light.dp2 186 121": PIXEL,
    "dp2emu pixel streams/first_light.dp2 186 121 --target 3 --at E3 --json":
        Result(out=r'\A\{"schema": 1, "target": 3,'),
    "dp2emu why streams/event_latency.dp2 1": Result(out=r"began +no BEGIN"),
    "dp2emu why streams/overlapping_queries.dp2 2 --json": Result(out=r'"value": 1824'),
    "dp2emu last-writer streams/first_light.dp2 2 0-1279 --at E5": Result(out=r"E2 1:5 DRAWPRIM"),
    "dp2emu readers streams/first_light.dp2 4 120-179": Result(
        out=r"E3 1:6 DRAWPRIMITIVE: vertices 0, bytes 120-179\n\Z"
    ),
    "dp2emu graph streams/moves.dp2 -o passes.dot": Result(files=("passes.dot",)),
    "dp2emu timeline streams/event_latency.dp2 -o trace.pftrace --timing work": Result(
        files=("trace.pftrace",)
    ),
    "dp2emu events streams/first_light.dp2": Result(out=r"E1 +0 +1:4 +clear +CLEAR"),
    'dp2emu events streams/first_light.dp2 --filter kind=draw --filter "pixels<3380" --tsv':
        Result(out=r"\Aevent\tframe[^$]*\nE5\t[^$]*\nE12\t"),
    "dp2emu debug streams/first_light.dp2 E2 pixel 100 100 --all": Result(
        out=r"\Apixel shader \(generated program\), pixel 100, 100 of primitive 0: 12 steps\n"
    ),
    "dp2emu debug streams/first_light.dp2 E2 pixel 100 100 --json": Result(
        out=r'\A\{\n "schema": 1,'
    ),
    "dp2emu debug streams/first_light.dp2 E2 pixel 100 100 --break 'f1 > 0.1'": Result(
        out=r"\nstopped: f1 > 0.1\n   5 f1 = saturate f0\n"
    ),
    "dp2emu replay streams/first_light.dp2 --draws --png film --strip film.png": Result(
        err="16 events\n.* 30 pictures", files=("film/event000002_surface2.png", "film.png")
    ),
    "dp2emu replay streams/first_light.dp2 --at 1:15 --png last": Result(
        err=" 3 pictures", files=("last/event000012_surface3_depth.png",)
    ),
    "dp2emu state streams/first_light.dp2 --at E2 --against 1": Result(
        out=r"\Arender_states.D3DRENDERSTATE_SCENECAPTURE: 1 -> 0, set by 1:17 RENDERSTATE\n\Z"
    ),
    "dp2emu state streams/real/sokol_texcube.trace --at E0 --against E3 --json": Result(
        out=r'"path": \[\s+"IASetPrimitiveTopology"\s+\]'
    ),
    "dp2emu pixel streams/real/d3d7_tri.trace 102 140": Result(
        out=r"\Asurface 2, D3DFMT_X8R8G8B8, 1024 x 768: pixel 102, 140\n"
    ),
    "dp2emu state streams/real/sokol_texcube.trace --at E3 --against E9 --set": Result(
        out=r"\nIASetPrimitiveTopology: D3D10_PRIMITIVE_TOPOLOGY_TRIANGLELIST again, set by 87 Ia"
    ),
    "dp2emu state streams/first_light.dp2 --at E3 --against E4": Result(
        out=r"\Aarguments.1: primType=D3DPT_TRIANGLELIST VStart=6 PrimitiveCount=1 -> [^\n]*\n\Z"
    ),
    "dp2emu state streams/first_light.dp2 --at 0:0 --against E4": Result(
        out=r"\Avertex_format: 0 -> 68 [^$]*\nqueries.2: none -> type=D3DQUERYTYPE_EVENT"
    ),
    "dp2emu state streams/real/sokol_texcube.trace --at E3 --rows 4 --png bound": Result(
        out=r"vertices\n  columns: v0.x v0.y", files=("bound/ps_t0_surface7.png",)
    ),
    "dp2emu mesh streams/real/sokol_texcube.trace E3": Result(
        out=r"\AE3 60 DrawIndexed: 12 primitives, T[^$]*8 culled, 4 drawn; 100,906 pixels covered"
    ),
    "dp2emu mesh streams/real/sokol_texcube.trace E3 --stage clip --csv": Result(
        out=r"\Ainstance,primitive,piece,corner,x,y,z,rhw,verdict,pixels\n(.+\n){36}\Z"
    ),
    "dp2emu mesh streams/real/sokol_texcube.trace E3 --stage vertex --obj -o cube.obj":
        Result(files=("cube.obj",)),
    "dp2emu overlay streams/first_light.dp2 E12 --overdraw -o overdraw.png": Result(
        err="E12: fragments: 3391, passed 2338, rejected 1053", files=("overdraw.png",)
    ),
    "dp2emu overlay streams/real/sokol_texcube.trace E3 --wireframe -o wireframe.png": Result(
        err="E3: edges of 4 primitives", files=("wireframe.png",)
    ),
    "dp2emu report streams/first_light.dp2 -o report.html": Result(
        err=r"events 16, draws 10, .*a page of 0\.\d MB", files=("report.html",)
    ),
    "dp2emu report streams/real/d3d9_tri.trace -o report.html --against streams/real/d3d9_tri":
        Result(err="0 of 1 pictures differ", files=("report.html",)),
    "dp2emu report streams/first_light.dp2 -o report.html --events E2-E9 --pixel 186 121": Result(
        err="events 8, draws 8", files=("report.html",)
    ),
    "dp2emu dump streams/bad_token.dp2 --hex": Result(out=r"\Adp2emu-text version=1 form=sealed"),
    "dp2emu dump streams/first_light.dp2 --jsonl": Result(out=r'\A\{"record":"annotation"'),
    "dp2emu dump streams/first_light.dp2 --parser construct": Result(
        out=r"\Atoken of call 0, offset 0x0000, SETRENDERTARGET2\n  header: bCommand=85"
    ),
    "dp2emu info streams/real/d3d9_tri.trace": Result(out="apitrace trace of Direct3D 9"),
    "dp2emu convert streams/first_light.dp2 first_light.txt": Result(files=("first_light.txt",)),
    "dp2emu convert streams/first_light.dp2 first_light.c": Result(files=("first_light.c",)),
    "dp2emu assemble first_light.txt -o first_light.dp2": Result(files=("first_light.dp2",)),
    "dp2emu shader docs/toon.vs -o toon.bin": SHADER,
    "dp2emu shader toon.bin": LISTED,
    "dp2emu batch streams/first_light.dp2 streams/overlapping_queries.dp2 --out batch.jsonl":
        Result(err="2 files: 2 fine", files=("batch.jsonl",)),
    "dp2emu scene tests/golden/scenes/query/occ_overlap_random.json --out results "
    "--capture scene.dp2": SCENE,
    "dp2emu conform query response --rig emulator --junit conform.xml":
        PASSED._replace(files=("conform.xml",)),
    "dp2emu fuzz --target walk --execs 20000 --corpus fuzzing": Result(
        err=r"walk: 20,000 inputs \([\d,]+ cases\) in .* 0 findings", files=("fuzzing/walk.json",)
    ),
    "dp2emu minimize streams/first_light.dp2 --check "
    "'sh -c \"test $(wc -c < {}) -lt 2000\"' -o small.dp2":
        Result(err=r"14 records became [1-9], [2-4]\d\d\d bytes", files=("small.dp2",), more=FEW),
    "dp2emu import streams/real/sdl_testgeometry.trace -o testgeometry.dp2": Result(
        err="every call read is expressed", files=("testgeometry.dp2",)
    ),
    "dp2emu replay testgeometry.dp2 --png testgeometry --json testgeometry.json": Result(
        err="25 calls.* 7 pictures, 0 faults",
        files=("testgeometry/call_00000056.png", "testgeometry.json"),
    ),
    "dp2emu replay streams/real/d3d9_tri.trace --against streams/real/d3d9_tri": Result(
        err=r"1 picture, 0 faults[^$]*within\b"
    ),
    "dp2emu import streams/real/sokol_texcube.trace -o texcube.dp2": Result(
        err="every call read is expressed", files=("texcube.dp2",)
    ),
    "dp2emu replay texcube.dp2 --png texcube --json texcube.json": Result(
        err=r"230 calls.* 4 pictures, 0 faults",
        files=("texcube/call_00000317.png", "texcube.json"),
    ),
    "dp2emu replay streams/real/sokol_texcube.trace --frames 0 --against "
    "streams/real/sokol_texcube": Result(err=r"1 picture, 0 faults[^$]*within\b"),
    # docs/command-line.rst
    "dp2emu replay game.dp2 --raw - | ffmpeg -f rawvideo -pixel_format rgb24 -video_size 640x480 "
    "-framerate 60 -i - game.mkv": Result(err="1 raw frame, rgb24", files=("game.mkv",)),
    'eval "$(_DP2EMU_COMPLETE=bash_source dp2emu)"': Result(
        out="-F _dp2emu_completion dp2emu",
        instead='eval "$(_DP2EMU_COMPLETE=bash_source dp2emu)" && complete -p dp2emu',
    ),
    'eval "$(_DP2EMU_COMPLETE=zsh_source dp2emu)"': Result(
        out="#compdef dp2emu", instead="_DP2EMU_COMPLETE=zsh_source dp2emu"
    ),
    "_DP2EMU_COMPLETE=fish_source dp2emu | source": Result(
        out="complete .*--command dp2emu", instead="_DP2EMU_COMPLETE=fish_source dp2emu"
    ),
    "dp2emu batch streams/first_light.dp2 streams/event_latency.dp2 --jobs 2 --out results.jsonl":
        BATCH,
    # docs/howto.rst
    "dp2emu replay streams/first_light.dp2 --verify --png out --json replay.json": Result(
        err=FINE, files=(PICTURE, "replay.json")
    ),
    "dp2emu state streams/overlapping_queries.dp2 --at 1:3 --json": Result(out=r'\A\{\n "schema"'),
    "dp2emu import game.trace -o game.dp2": Result(
        err="every call read is expressed", files=("game.dp2",)
    ),
    "dp2emu replay game.dp2 --png game": Result(
        err="1 picture, 0 faults", files=("game/call_00000014.png",)
    ),
    'dp2emu conform --rig "pipe:wine mydriver.exe"': Result(err=r"\d\d passed, 0 failed"),
    # docs/tutorial.rst
    "dp2emu info streams/first_light.dp2 --tokens": Result(out=r"ISSUEQUERY +\d+"),
    "dp2emu dump streams/first_light.dp2": Result(out=r"\Adp2emu-text version=1 form=sealed"),
    "dp2emu convert streams/first_light.dp2 mine.txt": Result(files=("mine.txt",)),
    "dp2emu assemble mine.txt -o mine.dp2": Result(files=("mine.dp2",)),
    "dp2emu replay streams/first_light.dp2 --verify --png out": Result(err=FINE, files=(PICTURE,)),
    "dp2emu state streams/first_light.dp2 --at 1": Result(out=r"call: 1\n"),
    "dp2emu replay streams/event_latency.dp2 --timing fixed:call=1000,packet=4000,delivery=500":
        Result(err=r"14 of 14 answers as recorded.*14,000 ticks"),
    "dp2emu replay mine.dp2 --png out": Result(err="1 picture, 0 faults"),
    "dp2emu conform query response --rig emulator": PASSED,
    # docs/fuzzing.rst
    "dp2emu fuzz --list": Result(out=r"\Awalk +the walk and the compiled walk"),
    "dp2emu fuzz --target device --seconds 60 --corpus fuzzing --jobs 2": Result(
        err=r"device: 40 inputs in .* 0 findings",
        instead="dp2emu fuzz --target device --execs 40 --plain --corpus fuzzing --jobs 2",
    ),
    "dp2emu fuzz --target draws --guard --seconds 600 --plain --resume": Result(
        err=r"draws: 1 inputs? \(\d+ cases\) in .* 0 findings",
        instead="dp2emu fuzz --target draws --guard --execs 1 --plain",
    ),
    "dp2emu fuzz --target draws10 --guard --seconds 600 --plain --resume": Result(
        err=r"draws10: 1 inputs? \(\d+ cases\) in .* 0 findings",
        instead="dp2emu fuzz --target draws10 --guard --execs 1 --plain",
    ),
    'dp2emu minimize fault.dp2 --check "./reproduce {}" -o small.dp2': Result(
        err=r"14 records became [1-9], [2-4]\d\d\d bytes", files=("small.dp2",), more=FEW
    ),
    "dp2emu fuzz --export work": Result(
        err=r"\d+ inputs in work", files=("work/dp2.dict", "work/corpus/stream-00")
    ),
    "dp2emu dump --bare work/out/default/crashes/id*": Result(out="version=1 form=bare\n"),
    # docs/mistakes.rst
    "dp2emu replay streams/mistakes/street.dp2 --png right": Result(
        err="1 picture, 0 faults", files=("right/call000002_surface2.png",)
    ),
    "dp2emu replay streams/mistakes/street_blend.dp2 --against right": Result(
        code=1, err="pixel 56, 72 of surface 2, .*recorded .186, 142, 111., replayed .249, 198"
    ),
    "dp2emu pixel streams/mistakes/street_blend.dp2 60 76": Result(
        out=r"\nE9 [^$]*written \(blended: INVSRCALPHA ADD ONE\); [^$]* 0\.376471; 0\.0431373 "
        r"[^$]* -> 0\.666667 "
    ),
    "dp2emu state streams/mistakes/street_blend.dp2 --at E8 --against E9": Result(
        out=r"D3DRS_SRCBLEND: 2 \(D3DBLEND_ONE\) -> 6 \(D3DBLEND_INVSRCALPHA\), "
        r"set by 2:10 RENDERSTATE\n"
    ),
    "dp2emu state streams/mistakes/street_blend.dp2 --at E9 "
    "--against-file streams/mistakes/street.dp2": Result(
        out=r"\Arender_states.D3DRS_SRCBLEND: 6 \(D3DBLEND_INVSRCALPHA\) -> "
        r"5 \(D3DBLEND_SRCALPHA\), set by 2:10 RENDERSTATE, there by 2:10 RENDERSTATE\n\Z"
    ),
    "dp2emu replay streams/mistakes/street_index.dp2 --against right": Result(
        code=1, err="pixel 20, 66 of surface 2, .*recorded .255, 210, 106., replayed .90, 58, 58."
    ),
    "dp2emu pixel streams/mistakes/street_index.dp2 24 70": Result(
        out=r"\nE3 [^$]*written; (?!.*\nE7 )[^$]*value: 0\.352941"
    ),
    "dp2emu pixel streams/mistakes/street.dp2 24 70": Result(out=r"\nE7 [^$]*value: 1 0\.823529"),
    "dp2emu mesh streams/mistakes/street_index.dp2 E7 --stage input": Result(
        out=r"\n +0 +36 +24 "
    ),
    "dp2emu mesh streams/mistakes/street.dp2 E7 --stage input": Result(out=r"\n +0 +24 +16 "),
    "dp2emu readers streams/mistakes/street_index.dp2 5": Result(
        out=r"E7 2:8 DRAWINDEXEDPRIMITIVE: indices, bytes 72-143\n"
    ),
    "dp2emu why streams/mistakes/street_query.dp2 1": Result(
        out=r"began +E4 2:5 [^$]*ended +E5 2:6 [^$]*counted +0 samples\n\Z"
    ),
    "dp2emu events streams/mistakes/street_query.dp2 --filter frame=0": Result(
        out=r"E5 +0 +2:6 +query_end [^$]*E6 +0 +2:7 +draw "
    ),
    "dp2emu why streams/mistakes/street.dp2 1": Result(
        out="E5 2:6 DRAWINDEXEDPRIMITIVE: 736 samples"
    ),
    # docs/init_driver.rst, docs/rigs.rst
    "dp2emu init-driver mydriver": Result(
        err=r"\d\d files in mydriver; make check builds and tests the driver",
        files=("mydriver/driver.c", "mydriver/.github/workflows/driver.yml"),
    ),
    "cd mydriver": Result(),
    "make check": in_driver("make check", out=GREEN, files=("mydriver/driver.so",)),
    "dp2emu conform draw --rig native:./driver.so": in_driver(
        "dp2emu conform draw --rig native:./driver.so", code=1,
        out=r"1 failed: draw\.coverage\.counterclockwise\n[^$]* is answered 00000000 instead of "
        r"0a000000\n[^$]*\ndraw +25 +39 +1 +3\n",
    ),
    "dp2emu conform draw.coverage.counterclockwise --export cases": in_driver(
        "dp2emu conform draw.coverage.counterclockwise --export cases",
        files=("mydriver/cases/draw.coverage.counterclockwise.dp2log",),
    ),
    "dp2emu dump cases/draw.coverage.counterclockwise.dp2log": in_driver(
        "dp2emu dump cases/draw.coverage.counterclockwise.dp2log",
        out="RenderState=D3DRS_CULLMODE dwState=1 ",
    ),
    "gcc -shared -fPIC -I \"$(python -c 'from dp2emu.capture.headers import INCLUDES; "
    "print(INCLUDES)')\" mydriver.c -o mydriver.so": Result(files=("mydriver.so",)),
    "python docs/rig_example.py ./mydriver.so": Result(out="event: S_OK\n"),
    "i686-w64-mingw32-gcc -I INCLUDES INCLUDES/dp2stub.c mydriver.c -o mydriver.exe": Result(
        files=("mydriver.exe",)
    ),
    "gcc -m32 -DDP2STUB_9X -I INCLUDES INCLUDES/dp2stub.c mydriver.c -o driver9x": Result(
        files=("driver9x",)
    ),
    "dp2emu conform query response --rig pipe:./driver9x": Result(err=r"\d\d passed, 0 failed"),
    "dp2emu convert fault.dp2 fault.c": Result(files=("fault.c",)),
    "gcc -g -fsanitize=address fault.c mydriver.c -o fault": Result(
        files=("fault",), instead="gcc -I INCLUDES -g fault.c mydriver.c -o fault"
    ),
    "./fault": Result(code=1, out=r"call 0\b[^$]*call 1\b"),
    # docs/security.rst
    "dp2emu replay streams/first_light.dp2 --limit call_pixels=10000000 --limit surfaces=100":
        Result(err=FINE),
}  # fmt: skip
"""What each command gives that is run, by its text."""

ELSEWHERE = {
    r"python3 -m venv --clear .venv && .*": ".ci/run",
    r"\.ci/run": ".ci/run",
    r"python3 -m venv \.venv && \. \.venv/bin/activate": ".ci/run",
    r"pip install '\.\[test\]'": ".ci/run",
    r"(HYPOTHESIS_PROFILE=full )?python -m pytest (-n auto|-m slow)": ".ci/run",
    r"python -m tests\.golden": "tests/golden/test_main.py",
    r"python -m tests\.golden10 --engine checked": "tests/golden10/test_golden10.py",
    r"python -m tests\.captures FOLDER": "tests/captures.py",
    r"python -m tests\.captures10 FOLDER": "tests/test_captures10.py",
    r"python -m tests\.explain\.lane_trials programs": "tests/explain/test_lanes.py",
    r"python -m tests\.dumps FOLDER\.\.\.": "tests/test_dumps.py",
    r"python tools/bench\.py.*": "tests/tools/test_bench.py",
    r"python tools/token_table\.py": "tests/test_readme.py",
    r"python tools/mutate_(ops|opcodes|stages)\.py": "tools",
    r"python tools/(mutate_hostile|branches|function_errors|cluster_check)\.py.*": "tools",
    r"python tools/(?P<name>\w+)\.py.*": "tests/tools/test_{name}.py",
    r"make (piped|windows)": "tests/template_driver/test_pipes.py",
    r"dp2emu conform .*pipe:(\./|wine )driver(\.exe)?\W?": "tests/template_driver/test_pipes.py",
    r"dp2emu replay loop\.dp2 --timeout 10": "tests/cli/test_interrupts.py",
    r"dp2emu fuzz --rig .*": "tests/fuzz/test_rigs.py",
    r"(INCLUDES=|clang -g -DDP2FUZZ|gcc -g -I \$INCLUDES).*": "tests/native/test_fuzz_harness.py",
    r"(afl-clang-fast|export PYTHONPATH|export AFL_|afl-fuzz) ?.*": "tests/fuzz/test_afl.py",
    r"cp apitrace/lib/wrappers/.*|.*wine game(11)?\.exe": "Wine and a program",
}
"""File that runs a command of this form (a regular expression), or what the command needs."""

STAND_INS = {
    "dp2emu": f'exec {shlex.quote(sys.executable)} -m dp2emu "$@"',
    "python": f'exec {shlex.quote(sys.executable)} "$@"',
    "ffmpeg": 'for last; do :; done; cat > "$last"',
    "wine": 'program=$1; shift; exec "./$program" "$@"',
    "i686-w64-mingw32-gcc": 'exec gcc "$@"',
}
"""Programs in the shell's path: those that an installation adds, and stand-ins for others."""
_DRIVER = "".join(f'#include "tests/native/{name}"\n' for name in SAMPLE)
_REPRODUCE = '#!/bin/sh\ntest "$(wc -c < "$1")" -lt 2000\n'
_BLOCK = re.compile(r"(?:\.\. code-block:: (sh|console)|::)\n\n((?:    .*\n|\n)+)")
_COMMENT = re.compile(r"\s{2,}# .*$")
_PROGRAM = re.compile(r"^(?:\w+=\S+ )*(?:eval|dp2emu|wine|\w+=\w+ dp2emu)(?!\S)")


def commands_in(text: str) -> Iterator[str]:
    """Every shell command in a page or in a part of one, without comments, in order."""
    for language, block in _BLOCK.findall(text):
        lines = [line[4:] for line in block.rstrip().split("\n")]
        if language or any(_PROGRAM.match(line) for line in lines):
            yield from _commands(lines, prompt=language == "console")


def _commands(lines: list[str], *, prompt: bool) -> Iterator[str]:
    waiting = ""
    for line in lines:
        if prompt and not waiting and not line.startswith("$ "):
            continue  # what the command before prints
        words = _COMMENT.sub("", line.removeprefix("$ ") if prompt else line).strip()
        waiting = f"{waiting} {words}".strip()
        if words.endswith("\\"):
            waiting = waiting.removesuffix("\\").rstrip()
        elif not words.endswith("|"):
            yield waiting
            waiting = ""


def run_elsewhere(command: str) -> str | None:
    """The file that runs a command, or what it needs; None for a command to be run here."""
    for form, place in ELSEWHERE.items():
        found = re.fullmatch(form, command)
        if found is not None and command not in RUN:
            return place.format(**found.groupdict())
    return None


def make_clone(folder: Path) -> None:
    """Fill a folder with what a clone has and commands read, and with the files of a reader."""
    for part in ("docs", "streams", "tests/golden/scenes/query", "tests/native"):
        shutil.copytree(ROOT / part, folder / part)
    programs = folder / ".programs"
    programs.mkdir()
    for name, body in STAND_INS.items():
        _program(programs / name, f"#!/bin/sh\n{body}\n")
    _program(folder / "reproduce", _REPRODUCE)
    (folder / "mydriver.c").write_text(_DRIVER)
    (folder / "INCLUDES").symlink_to(INCLUDES)
    for name in ("fault.dp2", "game.dp2"):
        shutil.copy(ROOT / "streams" / "first_light.dp2", folder / name)
    shutil.copy(ROOT / "streams" / "real" / "d3d9_tri.trace", folder / "game.trace")
    crashes = folder / "work" / "out" / "default" / "crashes"
    crashes.mkdir(parents=True)
    (crashes / "id:000000,sig:11").write_bytes(bytes.fromhex("2a000000") + bytes(12))


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def check_command(command: str, folder: Path) -> None:
    """Run a command in a clone by a shell, and look at what came of it."""
    expected = RUN[command]
    for name in expected.files:
        (folder / name).unlink(missing_ok=True)
    paths = os.pathsep.join([str(folder / ".programs"), os.environ["PATH"]])
    ran = subprocess.run(
        ["bash", "-o", "pipefail", "-c", expected.instead or command + expected.more],
        cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": paths, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )  # fmt: skip
    out, err = ran.stdout.decode("utf-8", "replace"), ran.stderr.decode("utf-8", "replace")
    assert ran.returncode == expected.code, f"{command}: {err}"
    assert re.search(expected.out, out), f"{command}: {out[:2000]}"
    assert re.search(expected.err, err), f"{command}: {err[:2000]}"
    for name in expected.files:
        assert (folder / name).stat().st_size > 0, f"{command}: {name}"
