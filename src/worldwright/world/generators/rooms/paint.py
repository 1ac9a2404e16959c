"""Materials of a house; the covers of the furniture are drawn."""

from __future__ import annotations

from worldwright.world.generators.draft import glow, material
from worldwright.world.generators.rooms.house import House


def paint(house: House) -> None:
    """Give the house its materials."""
    rng = house.rng
    covers = [
        ("#5d7a86", "#4a6470"),
        ("#a4583f", "#86452f"),
        ("#6f7f5a", "#586647"),
        ("#7a5573", "#5f4059"),
        ("#c08a3e", "#9c6d2c"),
    ]
    a, b, c = rng.permutation(len(covers))[:3]
    house.draft.paint(
        parquet=material("#b07d4a", "wood", "#7c5330", 1.1, roughness=0.42, seed=1),
        oak=material("#c9a06c", "wood", "#9a7344", 1.3, roughness=0.48, seed=1),
        chequer=material("#e9e2d3", "checker", "#4c5a60", 1.6, roughness=0.3, seed=1),
        tiles=material("#dfe6e4", "tile", "#9fb0ae", 1.2, roughness=0.25, seed=1),
        concrete=material("#b4b0a8", "concrete", "#918d84", 2.0, roughness=0.7, seed=1),
        paint_sage=material("#b9c4a6", "plaster", "#adb89a", 2.0, roughness=0.92, seed=1),
        paint_cream=material("#f0e4cc", "plaster", "#e6d8bc", 2.0, roughness=0.92, seed=1),
        paint_blue=material("#a9bccb", "plaster", "#9cb0c0", 2.0, roughness=0.92, seed=1),
        paint_ochre=material("#dcb983", "plaster", "#d0ab73", 2.0, roughness=0.92, seed=1),
        paint_tile=material("#cfe0dd", "tile", "#f0f3f0", 0.6, roughness=0.25, seed=1),
        paint_clay=material("#c98f74", "plaster", "#bd8266", 2.0, roughness=0.92, seed=1),
        paint_mint=material("#bcd8c8", "plaster", "#aecdbb", 2.0, roughness=0.92, seed=1),
        ceiling=material("#f4f0e6", "plaster", "#ece7da", 2.0, roughness=0.95, seed=1),
        trim=material("#f2ecdf", roughness=0.5),
        brick=material("#a8604a", "brick", "#c0b09a", 1.25, roughness=0.9, seed=1),
        cap=material("#d8d0c0", "concrete", "#bdb5a4", 2.0, roughness=0.8, seed=1),
        grass=material("#a3bd66", "grass", "#6a8a3e", 2.2, roughness=0.95),
        hedge=material("#6f9a48", "grass", "#4b7233", 1.0, roughness=0.9),
        leaf=material("#6c9a4c", "grass", "#4f7a38", 0.8, roughness=0.85),
        leaf_light=material("#8fb960", "grass", "#6c9646", 0.8, roughness=0.85),
        bark=material("#93765b", "bark", "#5c4734", 0.6, roughness=0.95),
        clay=material("#bf6f48", roughness=0.75),
        dirt=material("#6b4f36", "dirt", "#4d3926", 0.8, roughness=1.0),
        wood=material("#b5824f", "wood", "#87592f", 1.4, roughness=0.45, seed=2),
        wood_dark=material("#7a4f30", "wood", "#54341d", 1.4, roughness=0.42, seed=2),
        fabric_a=material(covers[a][0], "fabric", covers[a][1], 0.35, roughness=0.95, seed=1),
        fabric_b=material(covers[b][0], "fabric", covers[b][1], 0.35, roughness=0.95, seed=1),
        cushion=material(covers[c][0], "fabric", covers[c][1], 0.3, roughness=0.95, seed=1),
        linen=material("#f1ebe0", "fabric", "#e2dac9", 0.3, roughness=0.95, seed=1),
        curtain=material("#e9dcc3", "fabric", "#d6c5a4", 0.4, roughness=0.95, seed=1),
        rug_a=material(covers[c][0], "fabric", "#e6d6b6", 0.9, roughness=1.0, seed=4),
        rug_b=material("#d9c7a4", "fabric", covers[a][1], 0.9, roughness=1.0, seed=4),
        rug_edge=material("#ece0c8", "fabric", "#cdbb96", 0.5, roughness=1.0, seed=4),
        cupboard=material("#7f9a92", roughness=0.5),
        marble=material("#ece9e4", "plaster", "#cfcac2", 0.9, roughness=0.2, seed=3),
        ceramic=material("#f3f1ea", roughness=0.18),
        steel=material("#c4c8cc", "metal", "#a2a7ad", 0.7, roughness=0.34, metallic=1.0, seed=1),
        brass=material("#d8b26a", roughness=0.3, metallic=1.0),
        mirror=material("#dfe6ea", roughness=0.06, metallic=1.0),
        black=material("#24262a", roughness=0.4),
        screen=material("#10151c", roughness=0.12),
        water=material("#7fb7c4", roughness=0.06),
        carton=material("#bd915c", "concrete", "#ab7f4b", 1.0, roughness=0.9, seed=2),
        tape=material("#d9c08c", roughness=0.4),
        book_red=material("#a63d33", roughness=0.7),
        book_blue=material("#33567f", roughness=0.7),
        book_green=material("#4d7350", roughness=0.7),
        book_cream=material("#dccfae", roughness=0.7),
        book_ochre=material("#c98f35", roughness=0.7),
        apple=material("#b8382c", roughness=0.35),
        orange=material("#e0862a", roughness=0.5),
        lime=material("#94b23e", roughness=0.45),
        shade=glow("#ffe0b0", 2.2 if house.params.lamps > 0 else 0.0),
    )
