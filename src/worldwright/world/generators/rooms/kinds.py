"""Kinds of rooms."""

from __future__ import annotations

from dataclasses import dataclass

from worldwright.world.generators.rooms import furniture as f


@dataclass(frozen=True)
class Kind:
    """A kind of room: its paint and floor, what stands in the middle, what stands along the walls, the most needed first."""

    name: str
    wall: str
    floor: str
    middle: tuple[str, ...]
    along: tuple[f.Maker, ...]
    loose: tuple[f.Maker, ...] = ()


LIVING = Kind(
    "living",
    "paint_sage",
    "parquet",
    ("rug_a", "coffee_table"),
    (f.sofa, f.television, f.shelf, f.armchair, f.floor_lamp, f.plant, f.cabinet),
    (f.carton,),
)
KITCHEN = Kind(
    "kitchen", "paint_cream", "chequer", ("dining_table",), (f.counter, f.fridge, f.cabinet, f.plant), (f.stool, f.stool)
)
BEDROOM = Kind(
    "bedroom", "paint_blue", "oak", ("rug_b",), (f.bed, f.nightstand, f.wardrobe, f.plant, f.armchair, f.floor_lamp), (f.carton,)
)
STUDY = Kind(
    "study",
    "paint_ochre",
    "parquet",
    ("rug_a",),
    (f.desk, f.shelf, f.shelf, f.armchair, f.floor_lamp, f.plant),
    (f.carton, f.carton),
)
BATH = Kind("bath", "paint_tile", "tiles", (), (f.bathtub, f.washstand, f.cabinet, f.plant), (f.stool,))
DINING = Kind("dining", "paint_clay", "oak", ("rug_b", "dining_table"), (f.cabinet, f.shelf, f.plant, f.floor_lamp, f.plant), ())
PLAY = Kind(
    "playroom", "paint_mint", "oak", (), (f.blocks, f.shelf, f.armchair, f.plant, f.cabinet), (f.ball, f.ball, f.carton, f.carton)
)
LIBRARY = Kind(
    "library",
    "paint_clay",
    "parquet",
    ("rug_a", "coffee_table"),
    (f.shelf, f.shelf, f.shelf, f.armchair, f.armchair, f.floor_lamp, f.plant),
    (f.stool,),
)
STORE = Kind("store", "paint_cream", "concrete", (), (f.shelf, f.cabinet, f.wardrobe), (f.carton,) * 7)
