"""The interface to LLVM: text in, objects and function addresses out.  Imports llvmlite lazily."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import count
from typing import Any

import msgspec

from dp2emu.shader.jit.code_images import images_supported

PASSES = ("sroa",)
"""LLVM passes to run before code generation.

Bodies are emitted scalarised and folded: the usual pipelines find next to nothing in them and take
longer than everything else.  ``instruction_combine`` must not be used: LLVM 22's miscompiles the
comparison of a square root with itself, taking it never to be NaN."""

LONG_TEXT = 10_000
"""Number of lines of LLVM text above which the code generator uses its fast register allocator;
the optimising one takes minutes for a shader of 100,000 operations."""

PROMOTED = 1 << 21
"""Largest product of variables in memory and basic blocks of a text whose variables LLVM promotes
to registers: the time of that grows with the product."""
_PROMOTING = "sroa"

_numbers = count()


class Host(msgspec.Struct, frozen=True):
    """LLVM for this machine.

    ``machine`` makes a target machine of an optimisation level; ``linker`` is created on first use
    and thread-safe.  ``emit`` is LLVM's function from modules to objects.  ``name`` identifies
    everything besides the text that objects depend on.
    """

    binding: Any
    machine: Callable[[int], Any]
    linker: Callable[[], Any]
    emit: Any
    fused: bool
    rounding: bool
    name: str

    @classmethod
    def of(cls) -> Host:
        """Initialise LLVM for this machine, and return the interface to it."""
        import llvmlite.binding as binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        cpu, features = binding.get_host_cpu_name(), _features(binding)
        target = binding.Target.from_default_triple()
        model = "small" if images_supported() else "jitdefault"

        def machine(effort: int) -> Any:
            return target.create_target_machine(
                cpu=cpu,
                features=_feature_string(features),
                opt=effort,
                reloc="pic",
                codemodel=model,
                jit=True,
            )

        @lru_cache(maxsize=1)
        def linker() -> Any:
            return binding.create_lljit_compiler(machine(_GOOD))

        # Every 64-bit ARM has one.  Without it LLVM calls the C library's, which may be wrong.
        fused = features.get("fma", False) or target.triple.startswith(("aarch64", "arm64"))
        rounding = all(features.get(each, False) for each in ("avx512f", "avx512bw"))
        version = ".".join(map(str, binding.llvm_version_info))
        name = "\n".join((version, target.triple, model, cpu, _feature_string(features)))
        return cls(binding, machine, linker, _emit_function(binding), fused, rounding, name)

    def begin(
        self, text: str, passes: tuple[str, ...] = PASSES, quick: bool = False
    ) -> Callable[[], bytes]:
        """Parse a module and run its passes; returns the code generation as a callable.

        Code generation is most of the work and releases the GIL, so that any thread can run it; it
        optimises unless ``quick``.
        """
        binding = self.binding
        machine = self.machine(_QUICK if quick or text.count("\n") > LONG_TEXT else _GOOD)
        # A machine and a context per module: neither is thread-safe.
        module = binding.parse_assembly(text, binding.create_context())
        builder = binding.create_pass_builder(
            machine, binding.create_pipeline_tuning_options(speed_level=1)
        )
        manager = binding.create_new_module_pass_manager()
        for name in passes if promotes(text) else (each for each in passes if each != _PROMOTING):
            getattr(manager, f"add_{name}_pass")()
        manager.run(module, builder)
        return partial(self._emitted, machine, module)

    def _emitted(self, machine: Any, module: Any) -> bytes:
        with self.binding.ffi.OutputString() as why:
            found = self.emit(machine, module, 1, why)
            if not found:
                raise RuntimeError(f"LLVM failed to emit code: {why}")
        library = self.binding.ffi.lib
        try:
            size = library.LLVMPY_GetBufferSize(found)
            return ctypes.string_at(library.LLVMPY_GetBufferStart(found), size)
        finally:
            library.LLVMPY_DisposeMemoryBuffer(found)

    def load(self, code: bytes, name: str) -> Code:
        """Link an object into memory and return its function ``name``."""
        library = self.binding.JITLibraryBuilder().add_object_img(code).export_symbol(name)
        tracker = library.add_current_process().link(self.linker(), f"{name}{next(_numbers)}")
        return Code(tracker, tracker[name])


_QUICK, _GOOD = 0, 1
"""LLVM optimisation levels of the code generator: 0 for quick compilation, 1 for good code."""


def promotes(text: str) -> bool:
    """Whether LLVM promotes the variables of a text from memory to registers.  Both compute the
    same bits.
    """
    return text.count(" = alloca ") * text.count(":\n") <= PROMOTED


def _emit_function(binding: Any) -> Any:
    """Return LLVM's function that emits an object, bypassing llvmlite's lock where possible.

    llvmlite serialises calls by a lock, so a background compilation would block the drawing
    thread.  Emission is safe without it: machine and context belong to the module alone.
    """
    wrapped = binding.ffi.lib.LLVMPY_TargetMachineEmitToMemory
    path = getattr(binding.ffi.lib, "_name", None)
    if path is None:
        return wrapped
    function = ctypes.CDLL(path).LLVMPY_TargetMachineEmitToMemory
    function.argtypes, function.restype = wrapped.argtypes, wrapped.restype
    return function


def _features(binding: Any) -> dict[str, bool]:
    """Return the CPU's features by LLVM's names; empty if LLVM cannot detect them."""
    try:
        return dict(binding.get_host_cpu_features())
    except RuntimeError:
        return {}


def _feature_string(features: dict[str, bool]) -> str:
    return ",".join(f"{'+' if there else '-'}{name}" for name, there in sorted(features.items()))


class Code(msgspec.Struct, frozen=True):
    """A function in memory; ``library`` keeps its memory alive."""

    library: Any
    address: int


@lru_cache(maxsize=1)
def host() -> Host:
    """Return LLVM for this machine.

    Raises ImportError without llvmlite, and other exceptions if it is damaged or too old.
    """
    return Host.of()
