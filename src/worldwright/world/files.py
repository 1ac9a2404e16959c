"""World documents on disk: read with one clear line for whatever is wrong, written so that reading them back gives the same world."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from worldwright.documents import parse_document, read_text
from worldwright.errors import WorldwrightError
from worldwright.ids import canonical_json, content_id
from worldwright.world.spec import World

try:
    from yaml import CSafeDumper as _Dumper
except ImportError:  # PyYAML built without libyaml: the same language, slower
    from yaml import SafeDumper as _Dumper  # type: ignore[assignment]


def load_world(path: Path) -> World:
    """The world in a YAML or JSON file.

    Raises:
        WorldwrightError: unreadable, too large, or not a world; names file, field, value and what to do.
    """
    return parse_world(read_text(path, "world"), str(path))


def parse_world(text: str, where: str) -> World:
    """The world in a text, YAML or JSON.

    Args:
        text: the document.
        where: what to call it in errors, such as its file name.

    Raises:
        WorldwrightError: not a world; names field, value and what to do.
    """
    world = parse_document(text, where, World)
    if world.generator is not None:
        try:
            canonical_json(world.generator.params)
        except (ValueError, TypeError) as error:
            raise WorldwrightError(
                f"{repr(world.generator.params)[:60]} is not plain finite data", where=f"{where}: generator.params"
            ) from error
    return world


def save_world(world: World, path: Path) -> None:
    """Write a world as YAML, defaults left out. Written aside and renamed: the file is never half there.

    Raises:
        WorldwrightError: the folder is missing, or nothing can be written there.
    """
    data = {"format": world.format} | world.model_dump(mode="json", exclude_defaults=True)
    text = yaml.dump(data, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=132, default_flow_style=None)
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        fix = "free some space" if error.errno == errno.ENOSPC else "name a file in a folder that exists"
        raise WorldwrightError(f"cannot be written ({error.strerror})", where=str(path), fix=fix) from error


def world_hash(world: World) -> str:
    """Content id of a world: of all its values, those left at their defaults included, however the document was written."""
    return content_id(world.model_dump(mode="json"))


def resolve_packs(world: World, world_path: Path | None, given: Mapping[str, Path]) -> dict[str, Path]:
    """The folder of each pack that the world names.

    Args:
        world: the world.
        world_path: the file that it came from; None if it came from none.
        given: folders that the user named (``--pack NAME=FOLDER``); they win over the document's ``root``.

    Raises:
        WorldwrightError: a pack has no folder, or its root leaves the world file's folder.
    """
    where = str(world_path) if world_path is not None else world.name
    folders: dict[str, Path] = {}
    for name, pack in world.packs.items():
        field, fix = f"{where}: packs.{name}", f"name its folder with --pack {name}=FOLDER"
        if name in given:
            folder = given[name].resolve()
            if not folder.is_dir():
                raise WorldwrightError(f"no folder {str(given[name])!r}", where=field, fix=fix)
        elif pack.root is not None and world_path is not None:
            base = world_path.resolve().parent
            folder = (base / pack.root).resolve()
            if not folder.is_relative_to(base):
                raise WorldwrightError(f"root {pack.root!r} leaves the folder of the world", where=field, fix=fix)
            if not folder.is_dir():
                raise WorldwrightError(f"no folder {pack.root!r} below {base}", where=field, fix=fix)
        else:
            raise WorldwrightError("has no folder", where=field, fix=fix)
        folders[name] = folder
    return folders


class _Plain(_Dumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True
