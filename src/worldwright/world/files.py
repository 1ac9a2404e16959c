"""World documents on disk: read with one clear line for whatever is wrong, written so that reading them back gives the same world."""

from __future__ import annotations

import difflib
import json
import typing
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from worldwright.errors import WorldwrightError
from worldwright.ids import canonical_json, content_id
from worldwright.world.spec import World

try:
    from yaml import CSafeDumper as _Dumper
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml: the same language, slower
    from yaml import SafeDumper as _Dumper  # type: ignore[assignment]
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

MAX_BYTES = 64 << 20
"""A larger document is refused before it is read."""
MAX_NODES = 8_000_000
MAX_DEPTH = 64


def load_world(path: Path) -> World:
    """The world in a YAML or JSON file.

    Raises:
        WorldwrightError: unreadable, too large, or not a world; names file, field, value and what to do.
    """
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise WorldwrightError("is not a file", where=str(path), fix="name a world document, such as w.yaml")
        if size > MAX_BYTES:
            raise WorldwrightError(
                f"is {size >> 20} MB large", where=str(path), fix=f"a world document has at most {MAX_BYTES >> 20} MB"
            )
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise WorldwrightError(
            f"cannot be read ({error.strerror})", where=str(path), fix="name an existing world document"
        ) from error
    except UnicodeDecodeError as error:
        raise WorldwrightError(f"byte {error.start} is not UTF-8", where=str(path), fix="a world document is UTF-8 text") from error
    return parse_world(text, str(path))


def parse_world(text: str, where: str) -> World:
    """The world in a text, YAML or JSON.

    Args:
        text: the document.
        where: what to call it in errors, such as its file name.

    Raises:
        WorldwrightError: not a world; names field, value and what to do.
    """
    if len(text) > MAX_BYTES:
        raise WorldwrightError(f"has {len(text)} characters", where=where, fix=f"a world document has at most {MAX_BYTES >> 20} MB")
    data = _read(text, where)
    if not isinstance(data, dict):
        found = "nothing" if data is None else f"a {type(data).__name__}"
        raise WorldwrightError(
            f"is no world: it holds {found}", where=where, fix="write a mapping that starts with format: worldwright.world/1"
        )
    try:
        world = World.model_validate(data)
    except ValidationError as error:
        raise _explain(error, data, where) from error
    if world.generator is not None:
        try:
            canonical_json(world.generator.params)
        except (ValueError, TypeError) as error:
            raise WorldwrightError(
                f"{_short(world.generator.params)} is not plain finite data", where=f"{where}: generator.params"
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
        part.unlink(missing_ok=True)
        raise WorldwrightError(
            f"cannot be written ({error.strerror})", where=str(path), fix="name a file in a folder that exists"
        ) from error


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


# --- text to plain values ---------------------------------------------------------------------------------------------------


class _Plain(_Dumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


_TAG = "tag:yaml.org,2002:"


class _Reader(_Loader):
    """Safe YAML without anchors, aliases and merges, and with every key once."""

    def plain(self) -> Any:
        """The one document as dicts, lists, strings, numbers, booleans and None."""
        root = self.get_single_node()
        self._seen: set[int] = set()
        return None if root is None else self._value(root, 0)

    def _value(self, node: yaml.Node, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {MAX_DEPTH}", problem_mark=node.start_mark)
        if isinstance(node, yaml.ScalarNode):
            self._count(node)
            if node.tag == f"{_TAG}timestamp":  # a date is a word here
                return node.value
            if node.tag.removeprefix(_TAG) not in {"str", "int", "float", "bool", "null"}:
                raise yaml.MarkedYAMLError(problem=f"tag {node.tag!r} is not read", problem_mark=node.start_mark)
            return self.construct_object(node)
        if node.tag.removeprefix(_TAG) not in {"map", "seq"}:
            raise yaml.MarkedYAMLError(problem=f"tag {node.tag!r} is not read", problem_mark=node.start_mark)
        if id(node) in self._seen:
            raise yaml.MarkedYAMLError(problem="an alias repeats what stands elsewhere: write it out", problem_mark=node.start_mark)
        self._seen.add(id(node))
        self._count(node)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item, depth + 1) for item in node.value]
        found: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None or key_node.tag == f"{_TAG}merge":
                raise yaml.MarkedYAMLError(problem="a key must be a plain word", problem_mark=key_node.start_mark)
            if key in found:
                raise yaml.MarkedYAMLError(problem=f"key {key!r} stands here twice", problem_mark=key_node.start_mark)
            found[key] = self._value(value_node, depth + 1)
        return found

    _nodes = 0

    def _count(self, node: yaml.Node) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise yaml.MarkedYAMLError(problem=f"more than {MAX_NODES} values", problem_mark=node.start_mark)


def _read(text: str, where: str) -> Any:
    if text.lstrip()[:1] == "{" or where.endswith(".json"):
        try:
            return json.loads(text, object_pairs_hook=_once)
        except RecursionError as error:
            raise WorldwrightError("is nested too deeply", where=where, fix="a world document is not that deep") from error
        except json.JSONDecodeError as error:
            if where.endswith(".json"):
                place = f"line {error.lineno}, column {error.colno}"
                raise WorldwrightError(f"is no JSON: {error.msg} at {place}", where=where, fix="correct the document") from error
        except _RepeatedKeyError as error:
            raise WorldwrightError(
                f"key {error.args[0]!r} stands twice in one object", where=where, fix="keep one of them"
            ) from error
    reader = _Reader(text)
    try:
        return reader.plain()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise WorldwrightError(
            f"is no YAML that is read here: {error.problem}{place}", where=where, fix="correct the document"
        ) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise WorldwrightError(f"is no YAML that is read here: {error}", where=where, fix="correct the document") from error
    except RecursionError as error:
        raise WorldwrightError("is nested too deeply", where=where, fix="a world document is not that deep") from error
    finally:
        reader.dispose()


class _RepeatedKeyError(Exception):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RepeatedKeyError(key)
        found[key] = value
    return found


# --- what is wrong, in one line ---------------------------------------------------------------------------------------------


def _explain(error: ValidationError, data: dict[str, Any], where: str) -> WorldwrightError:
    """The first thing that is wrong, and how many others there are. An unknown field comes first: it explains missing ones."""
    found = error.errors(include_url=False)
    first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
    keys = _real_path(first["loc"], data)
    what, fix = _describe(first, keys, data)
    if len(found) > 1:
        fix += f" (and {len(found) - 1} more)"
    path = _dotted(keys)
    return WorldwrightError(what, where=f"{where}: {path}" if path else where, fix=fix)


def _describe(error: Any, keys: list[str | int], data: dict[str, Any]) -> tuple[str, str]:
    kind, message = str(error["type"]), str(error["msg"])
    value = _short(error.get("input"))
    if kind == "extra_forbidden":
        known = _fields_at(keys[:-1], data)
        near = difflib.get_close_matches(str(keys[-1]), known, n=1, cutoff=0.5)
        return (
            f"unknown field {str(keys[-1])!r} (value {value})",
            f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}",
        )
    if kind == "missing":
        return "is missing", f"add {str(keys[-1])!r}"
    if kind in {"value_error", "assertion_error"}:
        return message.removeprefix("Value error, "), "correct it"
    if kind == "finite_number":
        return f"{value} is not a finite number", "write a number"
    if kind == "union_tag_not_found":
        return f"{value} does not say its {error['ctx']['discriminator'].strip(chr(39))}", "add that field"
    if kind == "union_tag_invalid":
        context = error["ctx"]
        near = difflib.get_close_matches(context["tag"], _quoted(context["expected_tags"]), n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return f"{context['discriminator']} {context['tag']!r} is not known", f"{hint}known: {context['expected_tags']}"
    return value, message[:1].lower() + message[1:]


def _quoted(tags: str) -> list[str]:
    return [tag.strip().strip("'") for tag in tags.split(",")]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _real_path(loc: tuple[str | int, ...], data: Any) -> list[str | int]:
    """Pydantic's location without the tags of unions, which stand nowhere in the document."""
    path: list[str | int] = []
    here: Any = data
    for key in loc:
        if isinstance(here, dict) and isinstance(key, str) and key not in here and key in {here.get("shape"), here.get("model")}:
            continue
        path.append(key)
        if isinstance(here, dict):
            here = here.get(key)
        elif isinstance(here, list) and isinstance(key, int) and key < len(here):
            here = here[key]
        else:
            here = None
    return path


def _dotted(keys: list[str | int]) -> str:
    """``entities[3].parts[0].geometry.size[1]``."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
    return text


def _fields_at(keys: list[str | int], data: Any) -> list[str]:
    """The fields known at a path of the document, found along the spec's own annotations."""
    types: list[Any] = [World]
    here: Any = data
    for key in keys:
        following: list[Any] = []
        for kind in types:
            if isinstance(key, str) and isinstance(kind, type) and issubclass(kind, BaseModel) and key in kind.model_fields:
                following += _alternatives(kind.model_fields[key].annotation)
            elif typing.get_origin(kind) in {list, tuple, dict}:
                following += _alternatives(typing.get_args(kind)[-1])
        types = following
        here = typing.cast("Any", here)[key] if isinstance(here, dict | list) else None
        tag = (here.get("shape") or here.get("model") or here.get("kind")) if isinstance(here, dict) else None
        tagged = [t for t in types if isinstance(t, type) and issubclass(t, BaseModel) and _tag_of(t) == tag]
        types = tagged or types
    models = [t for t in types if isinstance(t, type) and issubclass(t, BaseModel)]
    return list(dict.fromkeys(name for model in models for name in model.model_fields))


def _tag_of(model: type[BaseModel]) -> str | None:
    for name in ("shape", "model", "kind"):
        if name in model.model_fields:
            return str(typing.get_args(model.model_fields[name].annotation)[0])
    return None


def _alternatives(annotation: Any) -> list[Any]:
    """The types that a field can hold, with ``Annotated`` and unions taken apart."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _alternatives(typing.get_args(annotation)[0])
    if origin in {typing.Union, UnionType}:
        return [kind for choice in typing.get_args(annotation) for kind in _alternatives(choice)]
    return [annotation]
