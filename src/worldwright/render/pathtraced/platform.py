"""What the path tracer runs on: the variant of Mitsuba, chosen once a process, and how many threads it may have."""

from __future__ import annotations

import os
import platform as machine
from dataclasses import dataclass
from pathlib import Path

from worldwright.errors import WorldwrightError
from worldwright.render.pathtraced.llvm import PACKAGE, VARIABLE, find_llvm
from worldwright.render.raster.device import wanted_device

CUDA, LLVM, SCALAR = "cuda_ad_rgb", "llvm_ad_rgb", "scalar_rgb"


@dataclass(frozen=True, slots=True)
class Platform:
    """``variant`` of Mitsuba, and ``name``: what decides the pixels, as the driver says."""

    variant: str
    name: str

    @property
    def vector(self) -> bool:
        """True where our own tracer can run; else Mitsuba's does, a path at a time."""
        return self.variant != SCALAR


def thread_count() -> int:
    """The threads that this process shall use: those that the factory grants a child (see ``factory.child``), else one a core."""
    granted = os.environ.get("LP_NUM_THREADS", "")
    return max(1, int(granted)) if granted.isdigit() else len(os.sched_getaffinity(0))


def choose_platform(device: str | None = None) -> Platform:
    """The platform for a device: auto, cpu or gpu.

    Raises:
        WorldwrightError: a GPU is asked for and not there, or the user's LLVM is known to be bad.
    """
    wanted = wanted_device(device)
    library = find_llvm()
    # Read when Dr.Jit first compiles: its own choice must never be asked for.
    os.environ[VARIABLE] = library.path if library is not None else os.devnull
    import drjit
    import mitsuba
    import mitsuba_oidn

    made_of = f"Mitsuba {mitsuba.__version__}, OIDN {mitsuba_oidn.oidn_version()}"
    drjit.set_log_level(drjit.LogLevel.Disable)  # it would say on stderr what we say better
    mitsuba.set_log_level(mitsuba.LogLevel.Error)
    if wanted != "cpu" and CUDA in mitsuba.variants() and drjit.has_backend(drjit.JitBackend.CUDA):
        return Platform(CUDA, f"{made_of}, {CUDA}, {_gpu_name()}")
    if wanted == "gpu":
        raise WorldwrightError("no GPU with CUDA for the path-traced renderer", where="--device", fix="use --device auto")
    if library is not None and drjit.has_backend(drjit.JitBackend.LLVM):
        drjit.set_thread_count(thread_count())
        return Platform(LLVM, f"{made_of}, {LLVM}, {library.name}, {_processor()}")
    return Platform(SCALAR, f"{made_of}, {SCALAR} (no LLVM: slow; {PACKAGE}), {_processor()}")


def use(platform: Platform) -> None:
    """Make ``mitsuba`` mean this platform in this thread."""
    import mitsuba

    if mitsuba.variant() != platform.variant:
        mitsuba.set_variant(platform.variant)


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open() as file:
            lines = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        lines = []
    return lines[0] if lines else machine.machine()


def _gpu_name() -> str:
    import ctypes

    cuda = ctypes.CDLL("libcuda.so.1")
    name = ctypes.create_string_buffer(128)
    device = ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0) or cuda.cuDeviceGetName(name, 128, device):
        return "CUDA device"
    return name.value.decode(errors="replace")
