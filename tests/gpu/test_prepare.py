"""What a GPU imports before it draws."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dp2emu.shader.engines import JIT, REFERENCE, can_compile

_SCRIPT = """
import sys
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.engines import engine
Gpu(run=engine({engine!r}))
print("llvmlite" in sys.modules, "dp2emu.gpu.compile.kernel_draw" in sys.modules)
"""


@pytest.mark.parametrize(("engine", "kernels"), [(REFERENCE, False), (JIT, can_compile())])
def test_a_gpu_imports_what_it_draws_with_but_llvm(engine: str, kernels: bool) -> None:
    script = _SCRIPT.format(engine=engine)
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"False {kernels}\n"
