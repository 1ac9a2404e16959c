"""Pictures in another light or weather than shot.json says."""

from __future__ import annotations

from worldwright.verify.faults.registry import Rng, fault
from worldwright.verify.workshop import Workshop
from worldwright.world.looks import LOOKS

_THICK = ("dust", "fog", "underwater")
"""Looks whose air shows everywhere: others may give the same picture of a room without windows, and then it is no fault that shows."""


@fault("info_another_look")
def _another(shop: Workshop, rng: Rng) -> str | None:
    if shop.info.rgb is None:
        return None
    worn = shop.info.look
    name = str(rng.choice([name for name in _THICK if worn is None or worn.name != name]))
    shop.write_info(look=LOOKS[name])
    return f"drawn in the look {'of the world' if worn is None else worn.name}, {name} declared"


@fault("info_no_look")
def _none(shop: Workshop, rng: Rng) -> str | None:
    if shop.info.rgb is None or shop.info.look is None:
        return None
    name = shop.info.look.name
    shop.write_info(look=None)
    return f"drawn in the look {name}, none declared"


@fault("info_look_brighter")
def _brighter(shop: Workshop, rng: Rng) -> str | None:
    look = shop.info.look
    if shop.info.rgb is None or look is None:
        return None
    exposure = (look.exposure or shop.info.renderer.exposure) * 1.35
    shop.write_info(look=look.model_copy(update={"exposure": exposure}))
    return f"the look {look.name} declared a third brighter than it was drawn"
