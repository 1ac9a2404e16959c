"""ViZDoom as an engine: a real game that we did not write, recorded as it is played and played again for its pictures."""

from worldwright.engine.vizdoom.engine import VizdoomEngine

__all__ = ["VizdoomEngine"]
