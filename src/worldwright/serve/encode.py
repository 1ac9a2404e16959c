"""Pictures as the browser takes them: JPEG, or WebP for small ones, where JPEG's blocks would show."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SMALL = 32_000
"""Pixels up to which a picture is WebP: encoding it takes a millisecond, and it is enlarged in the browser."""


def encode_picture(rgb: NDArray[np.uint8], quality: int, scale: float = 1.0) -> tuple[bytes, dict[str, Any]]:
    """A picture [H, W, 3] uint8 as bytes, ``scale`` times as large (up to 1), and its head: format, width, height."""
    picture, small = Image.fromarray(rgb), rgb.shape[0] * rgb.shape[1] <= SMALL
    if scale < 1.0 and not small:
        size = max(16, round(rgb.shape[1] * scale)), max(16, round(rgb.shape[0] * scale))
        picture = picture.resize(size, Image.Resampling.BILINEAR)
    out = io.BytesIO()
    if small:
        picture.save(out, format="WEBP", quality=max(quality, 85), method=1)
    else:
        picture.save(out, format="JPEG", quality=quality, subsampling=2 if quality < 85 else 0)
    return out.getvalue(), {"format": "image/webp" if small else "image/jpeg", "width": picture.width, "height": picture.height}
