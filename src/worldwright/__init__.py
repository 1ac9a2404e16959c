"""Worldwright: worlds that a machine can learn, recorded, rendered again, verified and packed."""

__version__ = "0.1.0"
