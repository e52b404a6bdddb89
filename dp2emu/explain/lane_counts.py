"""Engines that observe pixel programs lane by lane: operations executed, mip levels read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dp2emu.explain.engine import Engine, Run
from dp2emu.gpu.arrays import F32, I64, Mask
from dp2emu.gpu.pixel_shader.pixel_stage import Observing, Shading
from dp2emu.gpu.rasterizer.planes import Sites
from dp2emu.shader import ir, reference
from dp2emu.shader.ir import Lod, TextureKind
from dp2emu.shader.observed import run_observed
from dp2emu.shader.reference import Machine, Result, Sampler, Watch
from dp2emu.shader.texture.bindings import LevelField, LimitField
from dp2emu.shader.types import Lanes


class _Pixels(Observing):
    """An engine that follows the runs of pixel programs; other programs just run.  Mutable.

    ``size`` is (height, width) of the target, ``samples`` its samples a pixel.
    """

    def __init__(self, size: tuple[int, int], samples: int) -> None:
        self.size = size
        self._width = size[1]

    def __call__(self, program: ir.Program, *given: Any, **others: Any) -> Result:
        """Run a program as ``reference.run`` does."""
        return reference.run(program, *given, **others)

    def real_places(self, sites: Sites, real: Mask | None) -> tuple[I64, I64, I64]:
        """Lanes that are no helpers, and their rows and columns."""
        lanes = np.arange(len(sites.x)) if real is None else np.flatnonzero(real)
        return lanes, sites.y[lanes], sites.x[lanes]


class CountedOperations(_Pixels):
    """Counts the operations that each pixel's fragments execute, in ``operations``.

    ``lanes`` counts the lanes that ran, ``helpers`` the helper lanes among them.  Mutable.
    """

    def __init__(self, size: tuple[int, int], samples: int) -> None:
        super().__init__(size, samples)
        self.operations = np.zeros(size, np.int64)
        self.lanes = self.helpers = 0

    def at(self, shading: Shading, sites: Sites, real: Mask | None) -> reference.Run:
        """An engine that counts the operations of one run."""
        return _Counting(self, sites, real)

    def count(self, run: Run, sites: Sites, real: Mask | None) -> Result:
        """Run a program, and count its operations."""
        counter = _Counter(run.lanes)
        given = run.program, run.inputs, run.uniforms, run.lanes, run.environment
        result = run_observed(*given, counter, run.mask)
        chosen, y, x = self.real_places(sites, real)
        np.add.at(self.operations, (y, x), counter.counts[chosen])
        self.lanes += run.lanes
        self.helpers += run.lanes - len(chosen)
        return result


class _Counting(Engine):
    """Counts the operations of the runs at some pixels."""

    def __init__(self, into: CountedOperations, sites: Sites, real: Mask | None) -> None:
        self._into, self._sites, self._real = into, sites, real

    def run(self, run: Run) -> Result:
        """Run a program, and count its operations."""
        return self._into.count(run, self._sites, self._real)

    def run_masked(self, run: Run) -> Result:
        """Run a program, and count its operations."""
        return self.run(run)


class _Counter:
    """Counts the statements that each lane executes.  Mutable."""

    def __init__(self, lanes: int) -> None:
        self.counts = np.zeros(lanes, np.int64)

    def entered(self, statements: tuple[ir.Statement, ...]) -> None:
        """A block is no operation."""

    def before(self, machine: Machine, statement: ir.Statement, active: Mask | None) -> None:
        """Count a statement in its active lanes."""
        if active is None:
            self.counts += 1
        else:
            self.counts[active] += 1

    def after(self, machine: Machine, statement: ir.Statement, active: Mask | None) -> None:
        """A statement is counted once."""


NO_LEVEL = -1
_FAR = 1 << 30


class ReadLevels(_Pixels):
    """The most detailed mip level that the last fragment of each pixel reads, in ``levels``.

    Pixels at which no texture is read have ``NO_LEVEL``.  Mutable.
    """

    def __init__(self, size: tuple[int, int], samples: int) -> None:
        super().__init__(size, samples)
        self.levels = np.full(size, NO_LEVEL, np.int64)
        self._found: I64 | None = None
        self._active: Mask | None = None

    def at(self, shading: Shading, sites: Sites, real: Mask | None) -> reference.Run:
        """An engine that keeps the levels that one run reads."""

        def run(program: ir.Program, *given: Any, **others: Any) -> Result:
            self._found = np.full(len(sites.x), _FAR)
            sampler = others.get("sampler")
            if sampler is not None:
                others["sampler"] = self._sampling(sampler)
            fetcher = others.get("fetcher")
            if fetcher is not None:
                others["fetcher"] = self._fetching(fetcher)
            result = reference.run(program, *given, **others)
            chosen, y, x = self.real_places(sites, real)
            found, self._found = self._found[chosen], None
            read = found < _FAR
            self.levels[y[read], x[read]] = found[read]
            return result

        return run

    def _sampling(self, inner: Sampler) -> Sampler:
        def sample(
            sampler: int, kind: TextureKind, coordinates: tuple[F32, ...], lod: Lod,
            arguments: tuple[F32, ...], active: Mask | None,
        ) -> tuple[F32, F32, F32, F32]:  # fmt: skip
            self._active = active
            return inner(sampler, kind, coordinates, lod, arguments, active)

        return sample

    def _fetching(self, fetcher: Any) -> Any:
        def fetch(unit: int, operands: Any, active: Mask | None) -> Any:
            self._active = active
            return fetcher(unit, operands, active)

        return fetch

    def __call__(self, program: ir.Program, *given: Any, **others: Any) -> Result:
        """Run a program; keep the levels that a program of a texture reads."""
        uniforms = given[1] if len(given) > 1 else others.get("uniforms", {})
        if self._found is None or "levels" not in uniforms:
            return reference.run(program, *given, **others)
        reads = _LevelReads(self._found, self._active, uniforms, others.get("watch"))
        others["watch"] = reads
        result = reference.run(program, *given, **others)
        reads.close(program)
        return result


class _LevelReads:
    """Keeps the least level of each lane's loads of the file ``levels``.  Mutable."""

    def __init__(
        self, found: I64, active: Mask | None, uniforms: Mapping[str, Lanes], watch: Watch | None
    ) -> None:
        self._found = found
        self._active = active
        self._limits = uniforms.get("limits")
        self._watch = watch
        self._seen = False

    def __call__(self, file: str, index: I64, active: Mask | None) -> None:
        """See a load of a uniform file."""
        if self._watch is not None:
            self._watch(file, index, active)
        if file != "levels" or self._limits is None:
            return
        fields = len(LevelField)
        # Sizes are also loaded to compute the level; its offset only to read texels.
        if not (index % fields == LevelField.OFFSET).all():
            return
        self._seen = True
        count = max(int(self._limits[LimitField.LEVELS]), 1)
        self._keep(index // fields % count, active)

    def _keep(self, level: I64, active: Mask | None) -> None:
        on = np.ones(len(self._found), np.bool_)
        for mask in (active, self._active):
            if mask is not None:
                on = on & mask
        level = np.where(on, level, _FAR)
        np.minimum(self._found, level, out=self._found)

    def close(self, program: ir.Program) -> None:
        """After the program: without such a load it reads the first level in use."""
        read = any(file.name == "texels" for file in program.files)
        if read and not self._seen and self._limits is not None:
            self._keep(np.array([int(self._limits[LimitField.FIRST])]), None)
