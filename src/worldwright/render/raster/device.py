"""The GL context: which device draws, and the few GL calls that moderngl does not have."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import moderngl

from worldwright.errors import WorldwrightError

Device = Literal["auto", "cpu", "gpu"]
DEVICES: tuple[Device, ...] = ("auto", "cpu", "gpu")
DEVICE_VARIABLE = "WORLDWRIGHT_DEVICE"
"""Environment variable that names the device where the caller does not."""

_SOFTWARE = ("llvmpipe", "softpipe", "swrast", "software rasterizer")
_MOST_DEVICES = 16
_PACKAGES = (
    "install libegl1, libegl-mesa0 and libgl1-mesa-dri (Debian and Ubuntu: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri)"
)

GL_DEPTH = 0x1801
GL_DEPTH_COMPONENT = 0x1902
GL_DEPTH_COMPONENT32F = 0x8CAC
GL_FLOAT = 0x1406
GL_TEXTURE_2D = 0x0DE1
GL_LOWER_LEFT, GL_ZERO_TO_ONE = 0x8CA1, 0x935F
GL_TEXTURE0 = 0x84C0
GL_SYNC_GPU_COMMANDS_COMPLETE, GL_SYNC_FLUSH_COMMANDS_BIT = 0x9117, 1
GL_TIMEOUT_EXPIRED, GL_WAIT_FAILED = 0x911B, 0x911D


@dataclass(frozen=True, slots=True)
class GL:
    """Calls by way of ctypes. They let other Python threads run while the driver works, as moderngl's own calls do not."""

    clip_control: Any
    clear_buffer_fv: Any
    fence_sync: Any
    client_wait_sync: Any
    delete_sync: Any
    flush: Any
    bind_texture: Any
    tex_image_2d: Any
    active_texture: Any

    def clear_depth(self, value: float) -> None:
        """Clear the depth of the framebuffer in use."""
        self.clear_buffer_fv(GL_DEPTH, 0, ctypes.byref(ctypes.c_float(value)))

    def fence(self) -> int:
        """A mark in the stream of commands, and the commands before it set going."""
        mark: int = self.fence_sync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
        self.flush()
        return mark

    def wait(self, mark: int) -> None:
        """Wait until everything before ``mark`` is done."""
        result = self.client_wait_sync(mark, GL_SYNC_FLUSH_COMMANDS_BIT, 120_000_000_000)
        self.delete_sync(mark)
        if result in {GL_WAIT_FAILED, GL_TIMEOUT_EXPIRED}:
            raise WorldwrightError("the graphics driver did not finish a picture within 120 s", fix="try --device cpu")

    def depth32f(self, texture: moderngl.Texture, width: int, height: int) -> None:
        """Give a depth texture 32-bit floats, which moderngl cannot ask for (reversed depth needs them)."""
        self.active_texture(GL_TEXTURE0)
        self.bind_texture(GL_TEXTURE_2D, texture.glo)
        self.tex_image_2d(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT32F, width, height, 0, GL_DEPTH_COMPONENT, GL_FLOAT, None)


def _load_gl() -> GL:
    egl = ctypes.CDLL("libEGL.so.1")
    address = egl.eglGetProcAddress
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    i, u, f, p, u64 = ctypes.c_int, ctypes.c_uint, ctypes.c_float, ctypes.c_void_p, ctypes.c_uint64

    def call(name: str, result: Any, *arguments: Any) -> Any:
        where = address(name.encode())
        if not where:
            raise WorldwrightError(f"the graphics driver lacks {name}", fix="use a driver with OpenGL 4.5, or --device cpu")
        return ctypes.CFUNCTYPE(result, *arguments)(where)

    return GL(
        clip_control=call("glClipControl", None, u, u),
        clear_buffer_fv=call("glClearBufferfv", None, u, i, ctypes.POINTER(f)),
        fence_sync=call("glFenceSync", p, u, u),
        client_wait_sync=call("glClientWaitSync", u, p, u, u64),
        delete_sync=call("glDeleteSync", None, p),
        flush=call("glFlush", None),
        bind_texture=call("glBindTexture", None, u, u),
        tex_image_2d=call("glTexImage2D", None, u, i, i, i, i, i, u, u, p),
        active_texture=call("glActiveTexture", None, u),
    )


def is_software(renderer: str) -> bool:
    """True when GL_RENDERER names a driver that draws with the CPU."""
    return any(name in renderer.lower() for name in _SOFTWARE)


def _try_context(index: int | None) -> moderngl.Context | str:
    # libEGL serves every call of GL, so libGL need not be there. moderngl's types know none of glcontext's settings: hence Any.
    chosen: dict[str, Any] = {"backend": "egl", "libgl": "libEGL.so.1", "libegl": "libEGL.so.1"}
    if index is not None:
        chosen["device_index"] = index
    try:
        return moderngl.create_context(require=450, standalone=True, **chosen)
    except Exception as error:  # glcontext raises bare Exception, whatever went wrong
        return str(error)


def wanted_device(device: str | None) -> Device:
    """The device that the caller, or else the environment, names."""
    name = device or os.environ.get(DEVICE_VARIABLE, "auto")
    for known in DEVICES:
        if name == known:
            return known
    raise WorldwrightError(f"no device {name!r}", where="--device", fix=f"choose one of {', '.join(DEVICES)}")


def create_context(device: str | None = None) -> tuple[moderngl.Context, GL]:
    """A standalone OpenGL 4.5 context over EGL.

    ``cpu`` takes a software driver (Mesa's llvmpipe), ``gpu`` refuses one, ``auto`` (the default) takes a GPU where there is one.
    Raises WorldwrightError that names the system packages when there is no EGL at all.
    """
    wanted = wanted_device(device)
    if wanted == "cpu":
        os.environ.setdefault("LIBGL_ALWAYS_SOFTWARE", "1")
    spare: moderngl.Context | None = None
    seen: list[str] = []
    for made in _contexts(seen):
        if is_software(made.info["GL_RENDERER"]) == (wanted == "cpu"):
            if spare is not None:
                spare.release()
            return _current(made)
        if wanted == "auto" and spare is None:
            spare = made
        else:
            made.release()
    if spare is not None:
        return _current(spare)
    found = ", ".join(dict.fromkeys(seen)) or "no device"
    if wanted == "gpu":
        raise WorldwrightError(
            f"no GPU with OpenGL 4.5 among the graphics devices ({found})", where="--device", fix="use --device auto"
        )
    raise WorldwrightError(f"no OpenGL 4.5 over EGL ({found})", fix=_PACKAGES)


def _contexts(seen: list[str]) -> Iterator[moderngl.Context]:
    """A context on each device in turn; ``seen`` gets their names, or why there is none."""
    for index in range(_MOST_DEVICES):
        made = _try_context(index)
        if isinstance(made, moderngl.Context):
            seen.append(made.info["GL_RENDERER"])
            yield made
        elif "but found" in made:  # past the last device
            break
        else:
            seen.append(made)
    if not seen:
        made = _try_context(None)  # a driver that cannot list its devices
        if isinstance(made, moderngl.Context):
            yield made
        else:
            seen.append(made)


def _current(context: moderngl.Context) -> tuple[moderngl.Context, GL]:
    with context:
        return context, _load_gl()


def describe_device(device: str | None = None) -> str:
    """What pictures would be made on: renderer, GL version and driver, as the driver says."""
    context, _ = create_context(device)
    try:
        return describe(context)
    finally:
        context.release()


def describe(context: moderngl.Context) -> str:
    """Renderer and version of a context."""
    return f"{context.info['GL_RENDERER']}, OpenGL {context.info['GL_VERSION']}"
