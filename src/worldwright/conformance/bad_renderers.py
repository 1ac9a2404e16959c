"""Renderers that are wrong in one way each: what every case must catch. They wrap a good one, so that nothing else is wrong.

``worldwright conformance renderer NAME --self-test`` runs the suite on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from worldwright.render.passes import DEPTH_STEPS, FLOW_INVALID, decode, encode_depth, encode_normal, linear_to_srgb
from worldwright.render.protocol import Moment, Renderer, Scenery, View, declared_by
from worldwright.transforms import invert_rigid, pixel_rays

Array = NDArray[Any]
Picture = dict[str, Array]


class Wrapped:
    """A renderer with what goes in (moments) and what comes out (pictures) changed."""

    def __init__(self, good: Renderer) -> None:
        self.good = good
        self.name, self.version, self.device, self.passes = good.name, good.version, good.device, good.passes
        self.samples, self.engine, self.rigs = good.samples, good.engine, good.rigs
        self._moments: list[Moment] = []
        self.count = 0

    def open(self, scenery: Scenery, width: int, height: int, passes: Sequence[str], samples: int | None = None) -> None:
        """Load a scene at a picture size."""
        self.width, self.height = width, height
        self.good.open(scenery, width, height, passes, samples)

    def declares(self) -> Mapping[str, Mapping[str, Any]]:
        """What its passes say beside the conventions."""
        return declared_by(self.good)

    def submit(self, moment: Moment) -> None:
        """Start a picture."""
        self._moments.append(moment)
        self.good.submit(self.into(moment))

    def collect(self) -> Picture:
        """The oldest picture submitted."""
        picture = self.out(dict(self.good.collect()), self._moments.pop(0))
        self.count += 1
        return picture

    def close(self) -> None:
        """Free everything."""
        self.good.close()

    def into(self, moment: Moment) -> Moment:
        """What is asked of the good renderer instead."""
        return moment

    def out(self, picture: Picture, moment: Moment) -> Picture:
        """What is given instead."""
        return picture


def _views(moment: Moment, change: Callable[[View], View]) -> Moment:
    shutter = tuple((instant, change(view)) for instant, view in moment.shutter)
    return replace(moment, view=change(moment.view), next_view=change(moment.next_view), shutter=shutter)


class LeftHanded(Wrapped):
    """Takes our axes for left-handed ones: the picture is mirrored."""

    def into(self, moment: Moment) -> Moment:
        def mirrored(view: View) -> View:
            K = view.K.copy()
            K[0, 2] = self.width - K[0, 2]
            return replace(view, K=K)

        return _views(moment, mirrored)

    def out(self, picture: Picture, moment: Moment) -> Picture:
        return {name: np.ascontiguousarray(plane[:, ::-1]) for name, plane in picture.items()}


class Mirrored(LeftHanded):
    """The same of a renderer that takes no camera."""

    def into(self, moment: Moment) -> Moment:
        return moment


class YUp(Wrapped):
    """Takes Y for up: z is laid where y was."""

    def into(self, moment: Moment) -> Moment:
        turn = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
        return _views(moment, lambda view: replace(view, c2w=turn @ view.c2w))


class Centimetres(Wrapped):
    """Takes a camera's position for centimetres."""

    def into(self, moment: Moment) -> Moment:
        def shrunk(view: View) -> View:
            c2w = view.c2w.copy()
            c2w[:3, 3] /= 100
            return replace(view, c2w=c2w)

        return _views(moment, shrunk)


class DepthInCentimetres(Wrapped):
    """Gives depth in centimetres."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        return picture | {"depth": encode_depth(decode("depth", picture["depth"]) * 100)} if "depth" in picture else picture


class RayDepth(Wrapped):
    """Sells the distance along the ray as planar depth."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        if "depth" not in picture:
            return picture
        u, v = np.meshgrid(np.arange(self.width) + 0.5, np.arange(self.height) + 0.5)
        length = np.linalg.norm(pixel_rays(np.stack([u, v], axis=-1), moment.view.K), axis=-1)
        return picture | {"depth": encode_depth(decode("depth", picture["depth"]) * length)}


class Inverted(Wrapped):
    """Takes camera-to-world for world-to-camera."""

    def into(self, moment: Moment) -> Moment:
        return _views(moment, lambda view: replace(view, c2w=invert_rigid(view.c2w)))


class FrameLate(Wrapped):
    """Gives each moment the picture of the one before."""

    def __init__(self, good: Renderer) -> None:
        super().__init__(good)
        self._last: Moment | None = None

    def into(self, moment: Moment) -> Moment:
        late, self._last = self._last or moment, moment
        return late


class GammaTwice(Wrapped):
    """Codes rgb for the screen twice."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        if "rgb" not in picture:
            return picture
        return picture | {"rgb": np.rint(linear_to_srgb(picture["rgb"] / 255.0) * 255).astype(np.uint8)}


class NoGamma(Wrapped):
    """Gives rgb without the curve: about linear light."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        return picture | {"rgb": np.rint((picture["rgb"] / 255.0) ** 2.2 * 255).astype(np.uint8)} if "rgb" in picture else picture


class SmoothIds(Wrapped):
    """Anti-aliases ids: the mean of four."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        if "entity" not in picture:
            return picture
        return picture | {"entity": np.rint(uniform_filter(picture["entity"].astype(np.float64), 2)).astype(np.uint16)}


class HalfPixel(Wrapped):
    """Puts pixel centres at whole numbers."""

    def into(self, moment: Moment) -> Moment:
        def moved(view: View) -> View:
            K = view.K.copy()
            K[:2, 2] += 0.5
            return replace(view, K=K)

        return _views(moment, moved)


class WorldNormals(Wrapped):
    """Gives normals of the world's frame."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        if "normal" not in picture:
            return picture
        return picture | {"normal": encode_normal(decode("normal", picture["normal"]) @ moment.view.c2w[:3, :3].T)}


class BackwardFlow(Wrapped):
    """Gives flow to the frame before."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        if "flow" not in picture:
            return picture
        return picture | {"flow": np.where(picture["flow"] == FLOW_INVALID, FLOW_INVALID, -picture["flow"]).astype(np.int16)}


class FarSky(Wrapped):
    """Gives the sky a depth."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        if "depth" not in picture:
            return picture
        return picture | {"depth": np.where(picture["depth"] == 0, DEPTH_STEPS + 1, picture["depth"]).astype(np.uint16)}


class Noisy(Wrapped):
    """Draws the same moment a little differently each time."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        return picture | {"rgb": np.bitwise_xor(picture["rgb"], np.uint8(1 + self.count % 2))} if "rgb" in picture else picture


class SwelledPicture(Wrapped):
    """Draws rgb three pixels beside the geometry."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        return picture | {"rgb": np.roll(picture["rgb"], 3, axis=1)} if "rgb" in picture else picture


class NobodyHides(Wrapped):
    """Shows who is hidden."""

    def into(self, moment: Moment) -> Moment:
        return _views(moment, lambda view: replace(view, hidden=()))


class GammaBlur(Wrapped):
    """Blurs rgb as it is coded for the screen, not in linear light."""

    def __init__(self, good: Renderer) -> None:
        super().__init__(good)
        self._ready: list[Picture] = []

    def submit(self, moment: Moment) -> None:
        """Start a picture."""
        self.good.submit(replace(moment, shutter=()))
        whole = dict(self.good.collect())
        parts = []
        for instant, view in moment.shutter if "rgb" in whole else ():
            self.good.submit(Moment(instant, view, instant, view))
            parts.append(self.good.collect()["rgb"].astype(np.float64))
        if parts:
            whole["rgb"] = np.rint(np.mean(parts, axis=0)).astype(np.uint8)
        self._ready.append(whole)

    def collect(self) -> Picture:
        """The oldest picture submitted."""
        return self._ready.pop(0)


class Faked(Wrapped):
    """Leaves out a pass that it declares."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        return {name: plane for name, plane in picture.items() if name != self.passes[-1]}


class NoDepth(Wrapped):
    """Leaves out depth, which it declares."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        return {name: plane for name, plane in picture.items() if name != "depth"}


class OtherIds(Wrapped):
    """Counts entities from 0."""

    def out(self, picture: Picture, moment: Moment) -> Picture:
        return (
            picture | {"entity": np.where(picture["entity"] == 0, 0, picture["entity"] - 1).astype(np.uint16)}
            if "entity" in picture
            else picture
        )


BAD_RENDERERS: dict[str, tuple[Callable[[Renderer], Renderer], str]] = {
    "left-handed axes": (LeftHanded, "camera_convention"),
    "y up": (YUp, "camera_convention"),
    "centimetres": (Centimetres, "camera_convention"),
    "depth in centimetres": (DepthInCentimetres, "depth"),
    "ray depth sold as planar": (RayDepth, "depth"),
    "camera-to-world inverted": (Inverted, "camera_convention"),
    "one frame late": (FrameLate, "in_time"),
    "gamma twice": (GammaTwice, "grey_card"),
    "no gamma": (NoGamma, "grey_card"),
    "ids anti-aliased": (SmoothIds, "entity"),
    "pixel centres at whole numbers": (HalfPixel, "camera_convention"),
    "normals of the world": (WorldNormals, "normal"),
    "flow backwards": (BackwardFlow, "flow"),
    "a far sky": (FarSky, "depth"),
    "noise": (Noisy, "same_again"),
    "rgb beside the geometry": (SwelledPicture, "silhouette"),
    "nobody hides": (NobodyHides, "hidden"),
    "blur in coded light": (GammaBlur, "shutter"),
    "a pass left out": (Faked, "stored_form"),
}
"""What is wrong: how to make it so, and the case that must fail."""
BAD_BOUND: dict[str, tuple[Callable[[Renderer], Renderer], str]] = {
    "left-handed axes": (Mirrored, "depth"),
    "depth in centimetres": (DepthInCentimetres, "depth"),
    "ray depth sold as planar": (RayDepth, "depth"),
    "one frame late": (FrameLate, "in_time"),
    "ids anti-aliased": (SmoothIds, "unfiltered"),
    "ids of others": (OtherIds, "entity"),
    "noise": (Noisy, "same_again"),
    "a pass left out": (NoDepth, "stored_form"),
}
"""The same for a renderer that shows one engine's takes: it takes no camera but its own."""
