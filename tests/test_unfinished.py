"""A process that ends without unwinding leaves no partial file and no child process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dp2emu import unfinished as module
from dp2emu.unfinished import begin_unfinished, dispose_all, end_unfinished, unfinished

CODE = """
import os, sys
from pathlib import Path
from dp2emu.outputs import temporary_folder, whole_output
from dp2emu.process.child import Command
from dp2emu.unfinished import dispose_all
import tempfile

tempfile.tempdir = os.getcwd()
child = Command(["sleep", "1000"])
with temporary_folder("some-") as folder, whole_output("out") as file:
    (folder / "file").touch()
    file.write(b"half")
    Path("seen").write_text(" ".join(sorted(os.listdir())))
    dispose_all()
    print(child.wait(), flush=True)
    os._exit(0)
"""


def test_partial_files_and_children_are_disposed_of(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "-9\n"
    seen = (tmp_path / "seen").read_text("utf-8")
    assert ".dp2emu-" in seen and "some-" in seen
    assert [path.name for path in tmp_path.iterdir()] == ["seen"]


def test_the_newest_is_disposed_of_first_and_errors_do_not_matter(monkeypatch) -> None:
    monkeypatch.setattr(module, "_disposals", {})
    done: list[int] = []
    begin_unfinished("a", lambda: done.append(1))
    begin_unfinished("b", lambda: done.append(1 // 0))
    begin_unfinished("c", lambda: done.append(3))
    begin_unfinished("d", lambda: done.append(4))
    end_unfinished("c")
    with unfinished(lambda: done.append(5)):
        pass
    dispose_all()
    dispose_all()
    assert done == [4, 1]
