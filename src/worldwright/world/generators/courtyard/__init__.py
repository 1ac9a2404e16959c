"""A walled courtyard outdoors: a fountain on a paved round, an arcade, two terraces (one by stairs, one by a ramp), trees, a market corner."""

from __future__ import annotations

import math

import numpy as np

from worldwright.world.generators.courtyard.court import OUTSIDE, PATH_TOP, PLAZA_TOP, Court, Courtyard
from worldwright.world.generators.courtyard.ground import ground_and_paths
from worldwright.world.generators.courtyard.market import market
from worldwright.world.generators.courtyard.mood import paint_and_light
from worldwright.world.generators.courtyard.planting import outside, planting
from worldwright.world.generators.courtyard.plaza import plaza
from worldwright.world.generators.courtyard.terraces import terrace_by_ramp, terrace_by_stairs
from worldwright.world.generators.courtyard.walls import walls
from worldwright.world.generators.draft import Draft
from worldwright.world.generators.place import Rect, Site
from worldwright.world.spec import Bounds, Goal, Spawn, Weather, World

__all__ = ["Courtyard", "courtyard"]


def courtyard(params: Courtyard, seed: int) -> World:
    """The courtyard of a seed."""
    rng = np.random.default_rng([seed, 1])
    half = params.size / 2
    court = Court(Draft(), rng, params, half, [], Site(Rect.around(0, 0, half - 1.2)), [], rng.uniform(0, 2 * math.pi, (3, 2)))
    light = paint_and_light(court)
    ground_and_paths(court)
    walls(court)
    plaza(court)
    goals = [*terrace_by_stairs(court), *terrace_by_ramp(court), *market(court)]
    planting(court)
    outside(court)
    far = half + OUTSIDE
    start = (0.0, round(-half + 4.0, 3), PATH_TOP)
    return World(
        name=f"courtyard_{seed}",
        description="A walled courtyard with a fountain, an arcade, two terraces, trees and a market corner.",
        bounds=Bounds(min=(-far, -far, -4.0), max=(far, far, 16.0)),
        materials=court.draft.used_materials(),
        entities=court.draft.entities,
        light=light.model_copy(update={"lamps": court.draft.lamps}),
        weather=Weather(fog_density=0.0015, fog_colour=light.sky.horizon),
        spawns=[
            Spawn(name="start", position=start, yaw=round(math.pi / 2, 6)),
            Spawn(name="arcade", position=(0.0, 8.2, PATH_TOP), yaw=round(-math.pi / 2, 6)),
        ],
        goals=[Goal(name="fountain", position=(2.6, -1.6, PLAZA_TOP)), Goal(name="arcade", position=(0.0, 8.4, PATH_TOP)), *goals],
    )
