"""Frames and rows that are missing, with counts made to fit where they can be."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from worldwright.verify.faults.registry import Rng, fault
from worldwright.verify.faults.sizes import matters
from worldwright.verify.workshop import Workshop


@fault("frame_dropped")
def _dropped(shop: Workshop, rng: Rng) -> str | None:
    """A frame is missing in every pass; rows and counts are made to fit."""
    if shop.n < 4:
        return None
    k = int(rng.integers(1, shop.n - 1))
    keep = np.delete(np.arange(shop.n), k)
    passes = {name: shop.read(name) for name in shop.info.all_passes}
    if not any(matters(name, p[i], p[i + 1]) for name, p in passes.items() for i in range(k, shop.n - 1)):
        return None
    rows = shop.rows()
    n = shop.n - 1
    columns = {name: getattr(rows, name)[:n] for name in rows.__slots__}
    shop.write_rows(type(rows)(**columns))
    entries = {name: entry.model_copy(update={"shape": [n, *entry.shape[1:]]}) for name, entry in shop.info.passes.items()}
    shop.write_info(n_frames=n, passes=entries)
    for name, pictures in passes.items():
        if name != "rgb":
            _resize(shop, name, n)
        shop.write(name, pictures[keep])
    return f"frame {k} missing in every pass, counts made to fit"


def _resize(shop: Workshop, name: str, n: int) -> None:
    path = shop.folder / "passes.zarr" / name / "zarr.json"
    document = json.loads(path.read_text())
    document["shape"][0] = n
    path.unlink()
    path.write_text(json.dumps(document))
    for group in (shop.folder / "passes.zarr" / "zarr.json",):
        whole = json.loads(group.read_text())
        whole.pop("consolidated_metadata", None)
        group.unlink()
        group.write_text(json.dumps(whole))


@fault("video_frame_dropped")
def _video_dropped(shop: Workshop, rng: Rng) -> str | None:
    frames = shop.read("rgb")
    k = int(rng.integers(shop.n))
    shop.write("rgb", np.delete(frames, k, axis=0))
    return f"frame {k} missing in the video"


@fault("row_dropped")
def _row_dropped(shop: Workshop, rng: Rng) -> str | None:
    rows = shop.rows()
    k = int(rng.integers(shop.n))
    keep = np.delete(np.arange(shop.n), k)
    columns: dict[str, Any] = {
        name: getattr(rows, name)[keep] if name != "clip" else tuple(rows.clip[i] for i in keep) for name in rows.__slots__
    }
    shop.write_rows(type(rows)(**columns))
    return f"row {k} missing"
