"""An evaluation's main figures in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.table import Table

from worldwright.evaluate.rollout import MARKS


def table(figures: Mapping[str, Any]) -> Table:
    """PSNR in dB by frame, and frames a second."""
    made = Table("", *(f"PSNR {mark}" for mark in MARKS), "frames/s", box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name, player in figures["players"].items():
        cells = ["-" if not np.isfinite(player["psnr"][m]) else f"{player['psnr'][m]:.1f}" for m in MARKS]
        made.add_row(name, *cells, f"{player['frames a second']:.0f}")
    return made
