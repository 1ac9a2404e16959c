"""The raster renderer (moderngl over EGL)."""

from worldwright.render.raster.device import DEVICES, describe_device
from worldwright.render.raster.renderer import RasterRenderer

__all__ = ["DEVICES", "RasterRenderer", "describe_device"]
