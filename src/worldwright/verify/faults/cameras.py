"""Every pass drawn again from a camera that is not the one that the rows tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from worldwright.render.cameras import camera_from
from worldwright.render.presets import Preset
from worldwright.render.protocol import Moment, View
from worldwright.render.run import moments
from worldwright.take.reader import Take
from worldwright.verify.faults.registry import Array, Rng, fault
from worldwright.verify.faults.sizes import matters, shift, turn
from worldwright.verify.workshop import Workshop


def _redraw(shop: Workshop, change: Callable[[View], View], frames: range) -> bool:
    """Draw frames again, all passes, through changed cameras; False where nothing visible changes."""
    info = shop.info
    with Take.open(shop.folder / "take.mcap", partial=info.take_partial) as take:
        renderer = shop.context.renderer(info, take)
        if renderer is None:
            return False
        camera = camera_from(info.camera, info.tick_rate, where="camera")
        size = Preset(info.preset, info.width, info.height)
        stored = {name: shop.read(name) for name in info.all_passes}
        changed = False
        for row, m in moments(
            take, take.derive_frames(info.frame_ticks), camera, size, info.first_frame, frames.start, frames.stop, info.motion_blur
        ):
            shutter = tuple((instant, change(view)) for instant, view in m.shutter)
            renderer.submit(Moment(m.now, change(m.view), m.next, change(m.next_view), shutter))
            for name, picture in renderer.collect().items():
                if name in stored:
                    changed = changed or (name == "depth" and matters(name, stored[name][row.frame], picture))
                    stored[name][row.frame] = picture
    if changed:
        for name, pictures in stored.items():
            shop.write(name, pictures)
    return changed


def _moved_camera(name: str, delta: Callable[[Rng], Array], what: str, *, one: bool) -> None:
    @fault(name)
    def apply(shop: Workshop, rng: Rng) -> str | None:
        k = int(rng.integers(shop.n))
        frames = range(k, k + 1) if one else range(shop.n)
        move = delta(rng)
        if not _redraw(shop, lambda view: replace(view, c2w=view.c2w @ move), frames):
            return None
        return f"every pass of {f'frame {k}' if one else 'all frames'}: {what}"


for _one in (True, False):
    _which = "one_frame" if _one else "all_frames"
    _moved_camera(f"camera_a_centimetre_off_{_which}", shift, "taken a centimetre beside", one=_one)
    _moved_camera(f"camera_half_a_degree_off_{_which}", turn, "taken half a degree turned", one=_one)


@fault("camera_of_another_lens")
def _lens(shop: Workshop, rng: Rng) -> str | None:
    wide = np.array([[1.01, 1, 1], [1, 1.01, 1], [1, 1, 1]])
    return (
        "every pass: focal length 1 % longer" if _redraw(shop, lambda view: replace(view, K=view.K * wide), range(shop.n)) else None
    )
