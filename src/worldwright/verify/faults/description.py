"""Wrong statements in ``shot.json``."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from worldwright.take.reader import Take
from worldwright.verify.faults.registry import Rng, fault
from worldwright.verify.workshop import Workshop


@fault("info_starts_a_frame_later")
def _first(shop: Workshop, rng: Rng) -> str | None:
    rows = shop.rows()
    ticks = shop.info.frame_ticks
    with Take.open(shop.folder / "take.mcap", partial=shop.info.take_partial) as take:
        if (shop.info.first_frame + 1 + shop.n) * ticks > take.last_tick or _nothing_changes(shop, take):
            return None
        t_ns = np.array([take.header.t_ns(int(t)) for t in rows.tick + ticks], dtype=np.int64)
    shop.write_rows(replace(rows, tick=rows.tick + ticks, t_ns=t_ns))
    shop.write_info(first_frame=shop.info.first_frame + 1)
    return "the shot claims to begin a frame later"


def _nothing_changes(shop: Workshop, take: Take) -> bool:
    """Whether the shot and the frame after it show one and the same moment: then the claim to begin a frame later is true."""
    rows = shop.rows()
    columns = [getattr(rows, f.name) for f in fields(rows) if f.name not in ("frame", "tick", "t_ns")]
    columns += [shop.read(name) for name in shop.info.passes]
    if not all(np.array_equal(column[k], column[0]) for column in columns for k in range(1, shop.n)):
        return False
    first, ticks = shop.info.first_frame, shop.info.frame_ticks
    last, after = (take.instant((first + shop.n + k) * ticks) for k in (0, 1))
    table = take.frames(ticks)
    return (
        np.array_equal(last.positions, after.positions)
        and np.array_equal(last.rotations, after.rotations)
        and all(np.array_equal(last.cameras[name], after.cameras[name]) for name in last.cameras)
        and np.array_equal(table.issued[first + shop.n - 1], table.issued[min(first + shop.n, len(table) - 1)])
    )


@fault("info_names_swapped")
def _names(shop: Workshop, rng: Rng) -> str | None:
    entities = list(shop.info.entities)
    if len(entities) < 3:
        return None
    a, b = (int(k) for k in rng.choice(np.arange(1, len(entities)), 2, replace=False))
    first, second = entities[a], entities[b]
    entities[a] = first.model_copy(update={"name": second.name, "label": second.label})
    entities[b] = second.model_copy(update={"name": first.name, "label": first.label})
    shop.write_info(entities=entities)
    return f"the names of ids {first.id} and {second.id} swapped"


@fault("info_unit")
def _unit(shop: Workshop, rng: Rng) -> str | None:
    if "depth" not in shop.info.passes:
        return None
    entry = shop.info.passes["depth"]
    attributes = entry.attributes | {"unit": "cm"}
    shop.write_info(passes=shop.info.passes | {"depth": entry.model_copy(update={"attributes": attributes})})
    return "depth declared in centimetres"


@fault("info_field_of_view")
def _fov(shop: Workshop, rng: Rng) -> str | None:
    if "fov_y_deg" not in shop.info.camera or isinstance(shop.info.camera["fov_y_deg"], list):
        return None
    shop.write_info(camera=shop.info.camera | {"fov_y_deg": shop.info.camera["fov_y_deg"] + 0.5})
    return "a field of view half a degree wider declared"
