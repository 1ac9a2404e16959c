"""Worlds that are played: an engine's or a model's, behind one interface."""
