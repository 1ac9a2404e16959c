"""The renderer ``vizdoom``: ViZDoom plays a take's demo again, at any of its sizes."""

from worldwright.render.vizdoom.renderer import VizdoomRenderer

__all__ = ["VizdoomRenderer"]
