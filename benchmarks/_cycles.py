"""The same scene in Blender Cycles, for comparison only: bpy is GPL and is never imported by the package.

``export`` writes a take's scene as plain arrays; ``run`` renders them in a process with bpy; ``python _cycles.py FOLDER MODE SAMPLES`` is
that process. A mode is ``passes`` (with Cycles' own passes in an EXR), ``rgb`` (a PNG), or ``none`` (nothing is written).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

SAMPLES = 4


# --- our side ---------------------------------------------------------------------------------------------------------------------


def export(take_path: Path, folder: Path, *, frames: int, width: int, height: int, camera: str = "third") -> None:
    """Write meshes, materials, lights, and for some frames spread over the take the poses, skinned vertices and cameras."""
    from PIL import Image

    from worldwright.assets.animation import skin
    from worldwright.assets.scene import build_scene
    from worldwright.render.cameras import make_camera
    from worldwright.render.sky import sky_picture
    from worldwright.take.reader import Take
    from worldwright.transforms import pose_matrix, quat_yaw
    from worldwright.world.files import resolve_packs

    folder.mkdir()
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    surfaces: list[dict[str, Any]] = []
    known: dict[int, int] = {}
    images: dict[int, str] = {}

    def image(source: Any) -> str | None:
        if source is None:
            return None
        if id(source) not in images:
            images[id(source)] = f"image{len(images)}.png"
            Image.fromarray(source.pixels).save(folder / images[id(source)], compress_level=1)
        return images[id(source)]

    def surface(s: Any) -> int:
        if id(s) not in known:
            known[id(s)] = len(surfaces)
            surfaces.append(
                {
                    "colour": s.base_colour, "metallic": s.metallic, "roughness": s.roughness, "emissive": s.emissive,
                    "colour_image": image(s.base_colour_image), "mr_image": image(s.metallic_roughness_image), "normal_image": image(s.normal_image),
                }
            )  # fmt: skip
        return known[id(s)]

    with Take.open(take_path) as take:
        header, world = take.header, take.header.world
        scene = build_scene(world, resolve_packs(world, None, {}))
        track = make_camera(camera, header)
        meshes: list[dict[str, Any]] = []

        def add(owner: int, mesh: Any, skinned: bool) -> None:
            k = len(meshes)
            meshes.append({"owner": owner, "surface": surface(mesh.surface), "skinned": skinned})
            arrays[f"p{k}"], arrays[f"n{k}"], arrays[f"u{k}"], arrays[f"t{k}"] = (
                mesh.positions,
                mesh.normals,
                mesh.uvs,
                mesh.indices,
            )

        for owner, parts in scene.entities.items():
            for mesh in parts:
                add(owner, mesh, False)
        for owner, model in scene.characters.items():
            for mesh in model.meshes:
                add(owner, mesh, True)
        moments = []
        for f in np.linspace(0, take.n_frames - 1, frames).astype(int):
            now = take.instant(int(f) * header.frame_ticks)
            view = track.view(now, width, height)
            poses = {world.entity_id(k): pose_matrix(e.position, e.rotation) for k, e in enumerate(world.entities)}
            poses |= dict(zip(header.body_ids, pose_matrix(now.positions, now.rotations), strict=True))
            poses |= {c.id: pose_matrix(c.position, quat_yaw(c.yaw)) for c in now.characters}
            for k, mesh in enumerate(meshes):
                if mesh["skinned"]:
                    model = scene.characters[mesh["owner"]]
                    who = next(c for c in now.characters if c.id == mesh["owner"])
                    own = [j for j, m in enumerate(meshes) if m["owner"] == mesh["owner"]].index(k)
                    arrays[f"s{len(moments)}_{k}"] = skin(model.meshes[own], model, who.bones)[0].astype(np.float32)
            moments.append({"c2w": view.c2w.tolist(), "poses": {str(k): m.tolist() for k, m in poses.items()}})
    arrays["sky"] = sky_picture(world)
    light = world.light.model_dump(mode="json")
    document = {
        "width": width, "height": height, "fov_y_deg": world.camera.fov_y_deg, "surfaces": surfaces, "meshes": meshes,
        "moments": moments, "light": light,
    }  # fmt: skip
    (folder / "scene.json").write_text(json.dumps(document))
    np.savez(folder / "arrays.npz", **arrays)


def run(folder: Path, mode: str, samples: int = SAMPLES) -> float:
    """Seconds a frame in Cycles: from changing the scene to the file on disk (mode ``none``: to the picture in memory); the first frame,
    which also builds the scene, is not counted."""
    # bpy wants an older numpy than we do: `make bench` gives it an environment of its own.
    own = Path(__file__).parents[1] / ".venv-bpy" / "bin" / "python"
    command = [str(own if own.exists() else sys.executable), __file__, str(folder), mode, str(samples)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("seconds ")]
    if done.returncode or not lines:
        raise SystemExit(f"Cycles did not run: {(done.stderr or done.stdout).strip()[-500:]}")
    return float(lines[-1].split()[1])


# --- Blender's side ---------------------------------------------------------------------------------------------------------------


def _material(bpy: Any, folder: Path, k: int, s: dict[str, Any]) -> Any:
    material = bpy.data.materials.new(f"surface{k}")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = tuple(s["colour"])
    shader.inputs["Metallic"].default_value = s["metallic"]
    shader.inputs["Roughness"].default_value = s["roughness"]
    if any(s["emissive"]):
        shader.inputs["Emission Color"].default_value = (*s["emissive"], 1.0)
        shader.inputs["Emission Strength"].default_value = 1.0

    def image(name: str, colour: bool) -> Any:
        node = nodes.new("ShaderNodeTexImage")
        node.image = bpy.data.images.load(str(folder / name))
        node.image.colorspace_settings.name = "sRGB" if colour else "Non-Color"
        return node

    if s["colour_image"]:
        links.new(image(s["colour_image"], True).outputs["Color"], shader.inputs["Base Color"])
    if s["mr_image"]:
        split = nodes.new("ShaderNodeSeparateColor")
        links.new(image(s["mr_image"], False).outputs["Color"], split.inputs["Color"])
        links.new(split.outputs["Green"], shader.inputs["Roughness"])
        links.new(split.outputs["Blue"], shader.inputs["Metallic"])
    if s["normal_image"]:
        bend = nodes.new("ShaderNodeNormalMap")
        links.new(image(s["normal_image"], False).outputs["Color"], bend.inputs["Color"])
        links.new(bend.outputs["Normal"], shader.inputs["Normal"])
    return material


def _mesh(bpy: Any, k: int, arrays: Any, material: Any) -> Any:
    mesh = bpy.data.meshes.new(f"mesh{k}")
    positions, triangles, uvs = arrays[f"p{k}"], arrays[f"t{k}"], arrays[f"u{k}"]
    mesh.vertices.add(len(positions))
    mesh.vertices.foreach_set("co", positions.astype(np.float32).ravel())
    mesh.loops.add(triangles.size)
    mesh.loops.foreach_set("vertex_index", triangles.astype(np.int32).ravel())
    mesh.polygons.add(len(triangles))
    mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))
    mesh.polygons.foreach_set("loop_total", np.full(len(triangles), 3, dtype=np.int32))
    layer = mesh.uv_layers.new()
    corner = uvs[triangles.ravel()].astype(np.float32) * [1, -1] + [0, 1]  # Blender's v = 0 is the bottom row
    layer.data.foreach_set("uv", corner.astype(np.float32).ravel())
    mesh.update()
    mesh.validate()
    mesh.normals_split_custom_set_from_vertices(arrays[f"n{k}"].tolist())
    mesh.materials.append(material)
    return bpy.data.objects.new(f"object{k}", mesh)


def _lights(bpy: Any, scene: Any, light: dict[str, Any], sky: Any) -> None:
    from mathutils import Vector

    world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    nodes, links = world.node_tree.nodes, world.node_tree.links
    # Cycles' map goes clockwise with -X in its middle column's place, and its first row is the lowest.
    height, width, _ = sky.shape
    turned = np.roll(sky[::-1, ::-1], width // 2, axis=1)
    picture = bpy.data.images.new("sky", width, height, float_buffer=True)
    picture.pixels.foreach_set(np.concatenate([turned, np.ones_like(turned[..., :1])], axis=-1).astype(np.float32).ravel())
    around = nodes.new("ShaderNodeTexEnvironment")
    around.image = picture
    links.new(around.outputs["Color"], nodes["Background"].inputs["Color"])
    scene.world = world
    if (sun := light["sun"]) is not None:
        lamp = bpy.data.lights.new("sun", "SUN")
        lamp.energy, lamp.color = sun["intensity"], sun["colour"]
        thing = bpy.data.objects.new("sun", lamp)
        azimuth, elevation = np.radians(sun["azimuth_deg"]), np.radians(sun["elevation_deg"])
        towards = Vector((np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)))
        thing.rotation_euler = (-towards).to_track_quat("-Z", "Y").to_euler()
        scene.collection.objects.link(thing)
    for k, spec in enumerate(light["lamps"]):
        lamp = bpy.data.lights.new(f"lamp{k}", "POINT")
        lamp.energy, lamp.color = spec["intensity"] * 4 * np.pi, spec["colour"]
        thing = bpy.data.objects.new(f"lamp{k}", lamp)
        thing.location = spec["position"]
        scene.collection.objects.link(thing)


def _settings(scene: Any, document: dict[str, Any], passes: bool, samples: int) -> None:
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = samples
    scene.cycles.use_adaptive_sampling = False
    scene.cycles.use_denoising = True
    scene.cycles.denoiser = "OPENIMAGEDENOISE"
    scene.render.use_persistent_data = True
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = (
        document["width"],
        document["height"],
        100,
    )
    if passes:
        layer = scene.view_layers[0]
        for name in ("z", "normal", "diffuse_color", "object_index", "vector"):
            setattr(layer, f"use_pass_{name}", True)
        if hasattr(scene.render.image_settings, "media_type"):
            scene.render.image_settings.media_type = "MULTI_LAYER_IMAGE"
        scene.render.image_settings.file_format = "OPEN_EXR_MULTILAYER"
    else:
        scene.render.image_settings.file_format = "PNG"
        scene.render.image_settings.compression = 15


def main() -> None:
    """Render the frames of an exported scene and print the seconds a frame."""
    import bpy
    from mathutils import Matrix

    folder, mode, samples = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    passes = mode == "passes"
    document, arrays = json.loads((folder / "scene.json").read_text()), np.load(folder / "arrays.npz")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    _settings(scene, document, passes, samples)
    _lights(bpy, scene, document["light"], arrays["sky"])
    materials = [_material(bpy, folder, k, s) for k, s in enumerate(document["surfaces"])]
    things = []
    for k, mesh in enumerate(document["meshes"]):
        thing = _mesh(bpy, k, arrays, materials[mesh["surface"]])
        thing.pass_index = mesh["owner"]
        scene.collection.objects.link(thing)
        things.append(thing)
    lens = bpy.data.cameras.new("camera")
    lens.sensor_fit, lens.angle_y, lens.clip_start, lens.clip_end = "VERTICAL", np.radians(document["fov_y_deg"]), 0.05, 1000.0
    camera = bpy.data.objects.new("camera", lens)
    scene.collection.objects.link(camera)
    scene.camera = camera
    flip = Matrix.Diagonal((1, -1, -1, 1))  # OpenCV to Blender's camera
    seconds = []
    for f, moment in enumerate(document["moments"]):
        started = time.perf_counter()
        camera.matrix_world = Matrix(moment["c2w"]) @ flip
        for k, (mesh, thing) in enumerate(zip(document["meshes"], things, strict=True)):
            thing.matrix_world = Matrix(moment["poses"][str(mesh["owner"])])
            if mesh["skinned"]:
                thing.data.vertices.foreach_set("co", arrays[f"s{f}_{k}"].ravel())
                thing.data.update()
        scene.render.filepath = str(folder / f"cycles{f}_{mode}{samples}")
        bpy.ops.render.render(write_still=mode != "none")
        seconds.append(time.perf_counter() - started)
    print("seconds", float(np.median(seconds[1:] or seconds)), flush=True)


if __name__ == "__main__":
    main()
