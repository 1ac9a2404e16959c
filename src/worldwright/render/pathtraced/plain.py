"""The artist where there is no LLVM: Mitsuba's own scalar path tracer, with its own materials. Slow, and in three things simpler than
ours: cut-outs throw whole shadows, a hidden character throws none, and a lamp within a glowing bulb is the bulb alone (the lamp's light
does not come out)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mitsuba as mi
import numpy as np
from numpy.typing import NDArray

from worldwright.assets.model import Surface
from worldwright.render.passes import srgb_to_linear
from worldwright.render.pathtraced.exposure import Slice
from worldwright.render.pathtraced.geometry import Geometry, posed
from worldwright.render.pathtraced.light import Light
from worldwright.render.protocol import View
from worldwright.render.raster.textures import EMISSIVE_MOST, Paint, paint_surfaces

Array = NDArray[Any]

BOUNCES = 5


class PlainArtist:
    """Traces one scene at one size, (width, height)."""

    def __init__(self, geometry: Geometry, light: Light, size: tuple[int, int]) -> None:
        self._geometry, self._size = geometry, size
        painted = paint_surfaces(geometry.surfaces)
        matters = [_matter(surface, painted) for surface in geometry.surfaces]
        content: dict[str, Any] = {"type": "scene", "integrator": {"type": "path", "max_depth": BOUNCES + 1}}
        content |= {f"light{k}": emitter for k, emitter in enumerate(_emitters(light))}
        self._meshes: list[tuple[str, int, NDArray[np.intp]]] = []
        for k, solid in enumerate(geometry.solids):
            for surface in np.unique(geometry.surface[solid.triangles]):
                chosen = geometry.triangles[solid.triangles][geometry.surface[solid.triangles] == surface]
                used, corners = np.unique(chosen, return_inverse=True)
                name = f"solid{k}_{surface}"
                content[name] = self._mesh(name, used, corners, matters[surface], geometry.surfaces[surface].emissive)
                self._meshes.append((name, k, used))
        self._scene = mi.load_dict(content)
        self._params = mi.traverse(self._scene)

    def _mesh(self, name: str, used: Array, corners: Array, matter: Any, glow: tuple[float, float, float]) -> Any:
        geometry = self._geometry
        props = mi.Properties()
        props["bsdf"] = matter
        if any(glow):
            radiance = [min(x, EMISSIVE_MOST) for x in glow]
            props["emitter"] = mi.load_dict({"type": "area", "radiance": {"type": "rgb", "value": radiance}})
        mesh = mi.Mesh(name, len(used), corners.size // 3, has_vertex_normals=True, has_vertex_texcoords=True, props=props)
        params = mi.traverse(mesh)
        params["vertex_positions"] = geometry.positions[used].ravel()
        params["vertex_normals"] = geometry.normals[used].ravel()
        params["vertex_texcoords"] = geometry.uvs[used].ravel()
        params["faces"] = corners.astype(np.uint32).ravel()
        params.update()
        return mesh

    def expose(self, parts: Sequence[Slice], seed: int) -> tuple[Any, Any, Any]:
        """See ``renderer.Artist``; it has no guides of its own."""
        total: Array = np.zeros((self._size[1], self._size[0], 3), np.float32)
        for part in parts:
            self._pose(part)
            made = mi.render(self._scene, sensor=_sensor(part.view, self._size), spp=part.samples, seed=seed * 64 + part.first)
            total += np.nan_to_num(np.array(made)[..., :3]) * np.float32(part.samples)
        return total / np.float32(sum(part.samples for part in parts)), None, None

    def _pose(self, part: Slice) -> None:
        geometry = self._geometry
        for k, solid in enumerate(geometry.solids):
            if solid.body is None and solid.model is None:
                continue
            positions, normals = posed(solid, geometry, part.instant)
            if solid.entity in part.view.hidden:
                positions = np.broadcast_to(positions[:1], positions.shape)  # triangles without area
            for name, owner, used in self._meshes:
                if owner == k:
                    own = used - solid.vertices.start
                    self._params[f"{name}.vertex_positions"] = positions[own].ravel()
                    self._params[f"{name}.vertex_normals"] = normals[own].ravel()
        self._params.update()


def _emitters(light: Light) -> list[dict[str, Any]]:
    """Mitsuba's emitters: its sky map has +Y up and goes the other way round."""
    turn = mi.ScalarTransform4f([[-1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    found: list[dict[str, Any]] = [
        {"type": "envmap", "bitmap": mi.Bitmap(np.ascontiguousarray(light.sky[..., :3])), "to_world": turn}
    ]
    if light.sun[6]:
        irradiance = {"type": "rgb", "value": [float(x) for x in light.sun[3:6]]}
        found.append({"type": "directional", "direction": [float(-x) for x in light.sun[:3]], "irradiance": irradiance})
    for lamp in light.lamps:
        intensity = {"type": "rgb", "value": [float(x) for x in lamp[4:7]]}
        found.append({"type": "point", "position": [float(x) for x in lamp[:3]], "intensity": intensity})
    return found


def _texture(values: Array) -> dict[str, Any]:
    pixels = np.ascontiguousarray(values, dtype=np.float32)
    return {"type": "bitmap", "bitmap": mi.Bitmap(pixels if pixels.ndim == 3 else pixels[..., None]), "raw": True}


def _matter(surface: Surface, painted: Paint) -> Any:
    """Mitsuba's material for a surface."""
    row = painted.row(surface)
    principled: dict[str, Any] = {"type": "principled", "specular": 0.5}
    if row.page:
        base, data = painted.pages[row.page][row.params & 0xFFFF :][:2].astype(np.float32) / 255
        principled |= {
            "base_color": _texture(srgb_to_linear(base[..., :3])),
            "roughness": _texture(data[..., 2]),
            "metallic": _texture(data[..., 3]),
        }
    else:
        principled |= {
            "base_color": {"type": "rgb", "value": [float(x) for x in surface.base_colour[:3]]},
            "roughness": surface.roughness,
            "metallic": surface.metallic,
        }
    out = principled
    if row.page and surface.normal_image is not None:
        xy = data[..., :2] * (255 / 127) - 128 / 127
        z = np.sqrt(np.maximum(1 - (xy * xy).sum(axis=-1, keepdims=True), 0.01))
        out = {"type": "normalmap", "normalmap": _texture(np.concatenate([xy, z], axis=-1) * 0.5 + 0.5), "bsdf": out}
    out = {"type": "twosided", "bsdf": out}
    if surface.alpha_cutoff is not None:
        alpha = base[..., 3] >= 0.5 if row.page else np.full((1, 1), (row.base >> 24) >= 128)
        out = {"type": "mask", "opacity": _texture(alpha), "bsdf": out}
    return mi.load_dict(out)


def _sensor(view: View, size: tuple[int, int]) -> Any:
    """The camera: Mitsuba's looks along +z with x to the left."""
    width, height = size
    fx, cx, cy = float(view.K[0, 0]), float(view.K[0, 2]), float(view.K[1, 2])
    to_world = view.c2w @ np.diag([-1.0, -1.0, 1.0, 1.0])
    return mi.load_dict(
        {
            "type": "perspective",
            "fov": float(np.degrees(2 * np.arctan(width / 2 / fx))),
            "fov_axis": "x",
            "principal_point_offset_x": (cx - width / 2) / width,
            "principal_point_offset_y": (cy - height / 2) / height,
            "near_clip": 1e-3,
            "to_world": mi.ScalarTransform4f(to_world.tolist()),
            "film": {
                "type": "hdrfilm", "width": width, "height": height, "pixel_format": "rgb", "rfilter": {"type": "box"},
                "component_format": "float32",
            },
        }
    )  # fmt: skip
