"""Draws docs/images/looks.jpg: every built-in look over one of two gardens, and three of them indoors.

.venv/bin/python scripts/looks_sheet.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from worldwright.report.world import picture_of_world
from worldwright.world.generators import generate
from worldwright.world.looks import LOOKS, put_on

SIZE, COLUMNS = (400, 225), 4
OUT = Path(__file__).parents[1] / "docs" / "images" / "looks.jpg"
WORLDS = {"courtyard": 3, "playground": 2, "rooms": 5}
INDOORS = ("golden", "night", "underwater")


def main() -> None:
    """Draw it."""
    worlds = {family: generate(family, seed, {}) for family, seed in WORLDS.items()}
    pictures = [(name, ("courtyard", "playground")[k % 2]) for k, name in enumerate(LOOKS)] + [(name, "rooms") for name in INDOORS]
    rows = -(-len(pictures) // COLUMNS)
    sheet = Image.new("RGB", (SIZE[0] * COLUMNS, SIZE[1] * rows), (24, 24, 24))
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=18)
    with tempfile.TemporaryDirectory() as folder:
        for k, (name, family) in enumerate(pictures):
            place = Path(folder) / f"{name}.png"
            picture_of_world(put_on(worlds[family], LOOKS[name]), {}, place)
            left, top = k % COLUMNS * SIZE[0], k // COLUMNS * SIZE[1]
            sheet.paste(Image.fromarray(np.asarray(Image.open(place))).resize(SIZE, Image.Resampling.LANCZOS), (left, top))
            draw.text((left + 8, top + 5), name, fill=(255, 255, 255), stroke_width=2, stroke_fill=(0, 0, 0), font=font)
    sheet.save(OUT, quality=82)


if __name__ == "__main__":
    main()
