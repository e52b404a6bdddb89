"""LLVM: text in, objects and addresses out.  The only module that imports llvmlite, and late."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import count
from typing import Any

from dp2emu.records import dataclass
from dp2emu.shader.jit.code_images import runs

PASSES = ("sroa",)
"""What is done with the text before the code generator has it, which is told not to try hard.
Bodies come scalarised and folded: the passes of a usual pipeline find next to nothing there, and
take longer than all the rest.  ``instruction_combine`` must not be among them: LLVM 22's takes
the square root of a number below 0 for no NaN when it is compared with itself."""

LONG = 10_000
"""Lines of text from which on the code generator does only what takes time in proportion: register
allocation for a shader of 100,000 operations takes minutes otherwise."""

_numbers = count()


@dataclass(frozen=True, slots=True)
class Host:
    """LLVM, for the machine that code is for.

    ``machine`` makes LLVM's machines, by the effort that they take; ``linker`` is LLVM's, which is
    made when it is first called for, and safe to use from threads.  ``emit`` is LLVM's function
    that turns modules into objects.  ``name`` says all that objects depend on besides texts.
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
        """This machine, as LLVM knows it."""
        import llvmlite.binding as binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        cpu, features = binding.get_host_cpu_name(), _features(binding)
        target = binding.Target.from_default_triple()
        model = "small" if runs() else "jitdefault"

        def machine(effort: int) -> Any:
            return target.create_target_machine(
                cpu=cpu,
                features=_flat(features),
                opt=effort,
                reloc="pic",
                codemodel=model,
                jit=True,
            )

        @lru_cache(maxsize=1)
        def linker() -> Any:
            return binding.create_lljit_compiler(machine(_GOOD))

        # Every 64-bit ARM has one; elsewhere LLVM would call a C library, which may be wrong.
        fused = features.get("fma", False) or target.triple.startswith(("aarch64", "arm64"))
        rounding = all(features.get(each, False) for each in ("avx512f", "avx512bw"))
        version = ".".join(map(str, binding.llvm_version_info))
        name = "\n".join((version, target.triple, model, cpu, _flat(features)))
        return cls(binding, machine, linker, _emission(binding), fused, rounding, name)

    def compile(self, text: str, passes: tuple[str, ...] = PASSES, quick: bool = False) -> bytes:
        """The object of a module: good code unless it has to be there quickly."""
        return self.begun(text, passes, quick)()

    def begun(
        self, text: str, passes: tuple[str, ...] = PASSES, quick: bool = False
    ) -> Callable[[], bytes]:
        """What is left of the same: the code generator's work, which is most of it and for which
        any thread will do, since it is done without Python.
        """
        binding = self.binding
        machine = self.machine(_QUICK if quick or text.count("\n") > LONG else _GOOD)
        # Machines and contexts of their own may be used at the same time.
        module = binding.parse_assembly(text, binding.create_context())
        builder = binding.create_pass_builder(
            machine, binding.create_pipeline_tuning_options(speed_level=1)
        )
        manager = binding.create_new_module_pass_manager()
        for name in passes:
            getattr(manager, f"add_{name}_pass")()
        manager.run(module, builder)
        return partial(self._emitted, machine, module)

    def _emitted(self, machine: Any, module: Any) -> bytes:
        with self.binding.ffi.OutputString() as why:
            found = self.emit(machine, module, 1, why)
            if not found:
                raise RuntimeError(f"LLVM compiles no code: {why}")
        library = self.binding.ffi.lib
        try:
            size = library.LLVMPY_GetBufferSize(found)
            return ctypes.string_at(library.LLVMPY_GetBufferStart(found), size)
        finally:
            library.LLVMPY_DisposeMemoryBuffer(found)

    def load(self, code: bytes, name: str) -> Code:
        """An object in memory, and where its function ``name`` is."""
        library = self.binding.JITLibraryBuilder().add_object_img(code).export_symbol(name)
        tracker = library.add_current_process().link(self.linker(), f"{name}{next(_numbers)}")
        return Code(tracker, tracker[name])


_QUICK, _GOOD = 0, 1
"""Efforts."""


def _emission(binding: Any) -> Any:
    """LLVM's function that makes an object of a module, with a machine and a context that nobody
    else uses.

    It takes nearly all the time there is, in which llvmlite's lock would keep out whoever wants
    to draw; so it is not called through llvmlite, as long as that says which library it has.
    """
    wrapped = binding.ffi.lib.LLVMPY_TargetMachineEmitToMemory
    path = getattr(binding.ffi.lib, "_name", None)
    if path is None:
        return wrapped
    function = ctypes.CDLL(path).LLVMPY_TargetMachineEmitToMemory
    function.argtypes, function.restype = wrapped.argtypes, wrapped.restype
    return function


def _features(binding: Any) -> dict[str, bool]:
    """What the CPU has, by LLVM's names; nothing where LLVM cannot tell."""
    try:
        return dict(binding.get_host_cpu_features())
    except RuntimeError:
        return {}


def _flat(features: dict[str, bool]) -> str:
    return ",".join(f"{'+' if there else '-'}{name}" for name, there in sorted(features.items()))


@dataclass(frozen=True, slots=True)
class Code:
    """A function in memory, which ``library`` keeps there."""

    library: Any
    address: int


@lru_cache(maxsize=1)
def host() -> Host:
    """Raises ImportError without llvmlite, and whatever one that is damaged or too old raises."""
    return Host.of()
