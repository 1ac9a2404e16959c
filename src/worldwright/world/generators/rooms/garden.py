"""What one sees through the windows."""

from __future__ import annotations

from worldwright.world.generators import plants
from worldwright.world.generators.draft import box
from worldwright.world.generators.place import Rect, Site
from worldwright.world.generators.rooms.house import GROUND, House
from worldwright.world.spec import Part


def garden(house: House) -> None:
    """Lawn, hedge and trees around the house."""
    draft, rng = house.draft, house.rng
    x0, y0, x1, y1 = house.extent()
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    wide, deep = x1 - x0 + 30, y1 - y0 + 30
    draft.add("lawn", "ground", [box("grass", (wide, deep, 0.4), (middle_x, middle_y, GROUND - 0.2))])
    hedge: list[Part] = []
    for s in (-1, 1):
        hedge.append(box("hedge", (wide - 4, 1.0, 2.0), (middle_x, middle_y + s * (deep / 2 - 2), GROUND + 0.9)))
        hedge.append(box("hedge", (1.0, deep - 5.1, 1.96), (middle_x + s * (wide / 2 - 2), middle_y, GROUND + 0.9)))
    draft.add("hedge", "bush", hedge)
    house_rect = Rect(x0 - 2.5, y0 - 2.5, x1 + 2.5, y1 + 2.5)
    site = Site(Rect.around(middle_x, middle_y, wide / 2 - 4, deep / 2 - 4), [house_rect])
    for k in range(10):
        place = site.find(rng, 1.6)
        if place is None:
            continue
        tree = (
            plants.conifer(rng, "bark", ["hedge", "leaf"], float(rng.uniform(4, 6)))
            if k % 3 == 2
            else plants.broadleaf(rng, "bark", ["leaf", "leaf_light"], float(rng.uniform(2.8, 3.8)))
        )
        draft.add("tree", "tree", tree, (*place, GROUND))
