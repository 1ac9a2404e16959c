"""Which LLVM library the path tracer compiles with. Dr.Jit's own choice among several may be one that ends the process."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from worldwright.errors import WorldwrightError

VARIABLE = "DRJIT_LIBLLVM_PATH"
"""Where Dr.Jit looks; the user may set it."""
OLDEST = 17
"""LLVM 14 to 16 stop the whole process on newer processors ("Cannot select ... fminimum"); older ones lack what Dr.Jit needs."""
FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/opt/llvm/lib")
PACKAGE = "install a newer one (Debian and Ubuntu: apt-get install libllvm19)"


@dataclass(frozen=True, slots=True, order=True)
class Library:
    """An LLVM shared library, and its version (0 where the name tells none)."""

    version: tuple[int, ...]
    path: str

    @property
    def name(self) -> str:
        """For a person."""
        return f"LLVM {'.'.join(map(str, self.version))}"


def version_of(path: Path) -> tuple[int, ...]:
    """The version that the name of what a file links to or its own tells, such as (19, 1); () where neither does."""
    for name in (path.resolve().name, path.name):
        if found := re.fullmatch(r"libLLVM(?:-([0-9.]+?))?\.(?:so|dylib)(?:\.([0-9.]+))?", name):
            # libLLVM-15.so.1 is LLVM 15; libLLVM.so.19.1 is LLVM 19.1; libLLVM.so.1 tells nothing.
            text = found[1] or found[2] or ""
            version = tuple(int(part) for part in text.split(".") if part)
            if version and version[0] > 3:
                return version
    return ()


def asked_version(path: Path) -> tuple[int, ...]:
    """The version that the library itself says (LLVM 16 and newer can); () where it cannot be loaded or asked."""
    try:
        ask = ctypes.CDLL(str(path)).LLVMGetVersion
    except (OSError, AttributeError):
        return ()
    parts = [ctypes.c_uint() for _ in range(3)]
    ask(*(ctypes.byref(part) for part in parts))
    return tuple(part.value for part in parts)


def candidates(folders: Iterable[Path], listed: str = "") -> list[Library]:
    """Libraries of a known version in ``folders`` and the folders just below them, and in ``listed`` (what ``ldconfig -p`` prints), each
    once, newest first."""
    paths = [Path(found) for found in re.findall(r"=> (\S*libLLVM\S*)", listed)]
    for folder in folders:
        for pattern in ("libLLVM*", "*/libLLVM*", "llvm-*/lib/libLLVM*"):
            paths += sorted(folder.glob(pattern))
    known: dict[str, Library] = {}
    for path in paths:
        if path.is_file() and (version := version_of(path)):
            known.setdefault(str(path.resolve()), Library(version, str(path)))
    return sorted(known.values(), reverse=True)


def choose(given: str | None, found: Sequence[Library]) -> Library | None:
    """The library to use: the one that the user names, else the newest of those that work; None where there is none.

    Raises:
        WorldwrightError: the user's own is not there, or is known to be bad.
    """
    if not given:
        return next((library for library in found if library.version[0] >= OLDEST), None)
    path = Path(given)
    if not path.is_file():
        raise WorldwrightError(f"no library {given!r}", where=VARIABLE, fix="correct or unset the variable")
    version = version_of(path) or asked_version(path)
    if not version:
        raise WorldwrightError(f"{given!r} does not tell its LLVM version", where=VARIABLE, fix=f"unset it, or {PACKAGE}")
    if version[0] < OLDEST:
        raise WorldwrightError(
            f"LLVM {'.'.join(map(str, version))} stops the process on newer processors; {OLDEST} or newer is needed",
            where=VARIABLE,
            fix=f"unset it, or {PACKAGE}",
        )
    return Library(version, given)


def find_llvm() -> Library | None:
    """The library to use on this machine. Raises as ``choose`` does."""
    given = os.environ.get(VARIABLE)
    if given and given != os.devnull:  # which this process may have put there itself
        chosen = choose(given, ())
        try:
            ctypes.CDLL(given).LLVMContextCreate  # noqa: B018 - is it what its name says?
        except (OSError, AttributeError) as error:
            raise WorldwrightError(
                f"{given!r} is no LLVM library ({error})", where=VARIABLE, fix=f"unset it, or {PACKAGE}"
            ) from error
        return chosen
    try:
        listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        listed = ""
    return choose(None, candidates([Path(folder) for folder in FOLDERS], listed))
