"""A world's geometry as plain meshes: what engines and renderers are fed with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from worldwright.assets.characters import load_character
from worldwright.assets.gltf import load_gltf
from worldwright.assets.model import Mesh, Model, SceneGeometry
from worldwright.assets.primitives import part_meshes, placed
from worldwright.errors import WorldwrightError
from worldwright.ids import hash_file
from worldwright.world.spec import GltfCharacter, GltfModel, Material, Part, World


def build_scene(world: World, packs: Mapping[str, Path], *, images: bool = True) -> SceneGeometry:
    """All meshes of a world: one per entity and surface, in the entity's frame.

    Args:
        world: the world.
        packs: pack name to its existing folder (``world.files.resolve_packs``).
        images: False leaves the procedural textures out: the shapes are the same, for those who do not look (an engine).

    Raises:
        WorldwrightError: an asset is missing, unreadable or outside its pack; names the entity and the part.
    """
    assets = _Assets(packs)
    materials = world.materials
    if not images:
        materials = {name: material.model_copy(update={"texture": None}) for name, material in materials.items()}
    entities: dict[int, tuple[Mesh, ...]] = {}
    collision: dict[int, tuple[Mesh, ...]] = {}
    for k, entity in enumerate(world.entities):
        touched: list[Mesh] = []
        seen: list[Mesh] = []
        for j, part in enumerate(entity.parts):
            meshes = _part(part, materials, f"entities[{k}] {entity.name!r} parts[{j}]", assets)
            (touched if part.collide else seen).extend(meshes)
        merged = merge(touched)
        entities[world.entity_id(k)] = merge([*touched, *seen]) if seen else merged
        collision[world.entity_id(k)] = merged
    characters: dict[int, Model] = {}
    for k, character in enumerate(world.characters):
        if isinstance(character.look, GltfCharacter):
            assets.locate(character.look.pack, character.look.path, f"characters[{k}] {character.name!r} look")
        characters[world.character_id(k)] = load_character(character, packs)
    return SceneGeometry(entities, collision, characters, dict(sorted(assets.hashes.items())))


def merge(meshes: Iterable[Mesh]) -> tuple[Mesh, ...]:
    """Meshes of the same surface made one, in the order in which the surfaces first appear."""
    groups: dict[int, list[Mesh]] = {}
    for mesh in meshes:
        groups.setdefault(id(mesh.surface), []).append(mesh)
    return tuple(group[0] if len(group) == 1 else _joined(group) for group in groups.values())


def _joined(group: list[Mesh]) -> Mesh:
    starts = np.cumsum([0, *(len(m.positions) for m in group[:-1])])
    return Mesh(
        positions=np.concatenate([m.positions for m in group]),
        normals=np.concatenate([m.normals for m in group]),
        uvs=np.concatenate([m.uvs for m in group]),
        indices=np.concatenate([m.indices + np.uint32(start) for m, start in zip(group, starts, strict=True)]),
        surface=group[0].surface,
        name=group[0].name,
    )


def _part(part: Part, materials: Mapping[str, Material], where: str, assets: _Assets) -> list[Mesh]:
    geometry = part.geometry
    if isinstance(geometry, GltfModel):
        meshes, scale = assets.model(geometry, where).meshes, geometry.scale
    else:
        meshes, scale = part_meshes(part, materials[str(part.material)]), 1.0
    position, rotation = np.array(part.position), np.array(part.rotation)
    return [placed(mesh, position, rotation, scale) for mesh in meshes]


class _Assets:
    """The files of one world, each loaded and hashed once."""

    def __init__(self, packs: Mapping[str, Path]) -> None:
        self.packs = packs
        self.hashes: dict[str, str] = {}
        self._models: dict[Path, Model] = {}

    def locate(self, pack: str, path: str, where: str) -> Path:
        """The file in its pack, known to exist and to lie inside; its hash is noted."""
        if pack not in self.packs:
            raise WorldwrightError(f"pack {pack!r} has no folder", where=where, fix=f"give it with --pack {pack}=FOLDER")
        root = self.packs[pack].resolve()
        file = (root / path).resolve()
        if not file.is_relative_to(root):
            raise WorldwrightError(
                f"path {path!r} leaves the folder of pack {pack!r}", where=where, fix="name a file inside the pack"
            )
        if not file.is_file():
            raise WorldwrightError(
                f"no file {path!r} in pack {pack!r} ({root})", where=where, fix="correct the path, or the pack's folder"
            )
        if f"{pack}/{path}" not in self.hashes:
            self.hashes[f"{pack}/{path}"] = hash_file(file)
        return file

    def model(self, geometry: GltfModel, where: str) -> Model:
        """The model of a glTF part."""
        file = self.locate(geometry.pack, geometry.path, where)
        if file not in self._models:
            try:
                self._models[file] = load_gltf(file, self.packs[geometry.pack])
            except WorldwrightError as error:
                raise WorldwrightError(error.what, where=f"{where}: {error.where or file}", fix=error.fix) from error
            if not self._models[file].meshes:
                raise WorldwrightError(f"model {geometry.path!r} has no triangles", where=where, fix="name a model with meshes")
        return self._models[file]
