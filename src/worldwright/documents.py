"""Documents that people write, YAML or JSON, of any pydantic model: read safely, with one clear line for whatever is wrong."""

from __future__ import annotations

import difflib
import json
import re
import typing
from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from worldwright.errors import WorldwrightError

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml: the same language, slower
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

MAX_BYTES = 64 << 20
"""A larger document is refused before it is read."""
MAX_NODES = 8_000_000
MAX_DEPTH = 64
MAX_BITS = 1024
"""Of a whole number: what is larger cannot even be printed in a message."""

Model = TypeVar("Model", bound=BaseModel)


def read_text(path: Path, kind: str) -> str:
    """The text of a document file.

    Args:
        path: the file.
        kind: what it should be, for errors: ``world``, ``recipe``.

    Raises:
        WorldwrightError: unreadable, too large or not UTF-8.
    """
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise WorldwrightError("is not a file", where=str(path), fix=f"name a {kind} document")
        if size > MAX_BYTES:
            raise WorldwrightError(
                f"is {size >> 20} MB large", where=str(path), fix=f"a {kind} document has at most {MAX_BYTES >> 20} MB"
            )
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise WorldwrightError(
            f"cannot be read ({error.strerror})", where=str(path), fix=f"name an existing {kind} document"
        ) from error
    except UnicodeDecodeError as error:
        raise WorldwrightError(
            f"byte {error.start} is not UTF-8", where=str(path), fix=f"a {kind} document is UTF-8 text"
        ) from error


def parse_document(text: str, where: str, model: type[Model]) -> Model:
    """A model from the text of a document.

    Args:
        text: the document, YAML or JSON.
        where: what to call it in errors, such as its file name.
        model: what it should be; ``model.__name__`` names it in errors.

    Raises:
        WorldwrightError: not such a document; names field, value and what to do.
    """
    kind = model.__name__.lower()
    if len(text) > MAX_BYTES:
        raise WorldwrightError(
            f"has {len(text)} characters", where=where, fix=f"a {kind} document has at most {MAX_BYTES >> 20} MB"
        )
    data = _read(text, where)
    if not isinstance(data, dict):
        found = "nothing" if data is None else f"a {type(data).__name__}"
        raise WorldwrightError(
            f"is no {kind}: it holds {found}", where=where, fix=f"write a mapping that starts with format: worldwright.{kind}/1"
        )
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _explain(error, data, where, model) from error


# --- text to plain values ---------------------------------------------------------------------------------------------------


_TAG = "tag:yaml.org,2002:"
_NUMBERS: dict[str, Callable[[str], float]] = {f"{_TAG}int": int, f"{_TAG}float": float}
_PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,20})?")


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
            if node.tag in _NUMBERS and _PLAIN_NUMBER.fullmatch(node.value):  # most of a document, and much faster read here
                return _NUMBERS[node.tag](node.value)
            if node.tag == f"{_TAG}timestamp":  # a date is a word here
                return node.value
            if node.tag.removeprefix(_TAG) not in {"str", "int", "float", "bool", "null"}:
                raise yaml.MarkedYAMLError(problem=f"tag {node.tag!r} is not read", problem_mark=node.start_mark)
            value = self.construct_object(node)
            if isinstance(value, int) and value.bit_length() > MAX_BITS:
                raise yaml.MarkedYAMLError(problem=f"a number of {value.bit_length()} bits", problem_mark=node.start_mark)
            return value
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
            return json.loads(text, object_pairs_hook=_once, parse_int=_whole_number)
        except RecursionError as error:
            raise WorldwrightError("is nested too deeply", where=where, fix="a document is not that deep") from error
        except json.JSONDecodeError as error:
            if where.endswith(".json"):
                place = f"line {error.lineno}, column {error.colno}"
                raise WorldwrightError(f"is no JSON: {error.msg} at {place}", where=where, fix="correct the document") from error
        except _TooLargeError as error:
            raise WorldwrightError(f"a number of {error.args[0]} digits", where=where, fix="correct the document") from error
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
        raise WorldwrightError("is nested too deeply", where=where, fix="a document is not that deep") from error
    finally:
        reader.dispose()


class _RepeatedKeyError(Exception):
    pass


class _TooLargeError(Exception):
    pass


def _whole_number(digits: str) -> int:
    if len(digits) > MAX_BITS * 3 // 10:
        raise _TooLargeError(len(digits))
    return int(digits)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RepeatedKeyError(key)
        found[key] = value
    return found


# --- what is wrong, in one line ---------------------------------------------------------------------------------------------


def _explain(error: ValidationError, data: dict[str, Any], where: str, model: type[BaseModel]) -> WorldwrightError:
    """The first thing that is wrong, and how many others there are. An unknown field comes first: it explains missing ones."""
    found = error.errors(include_url=False)
    first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
    keys = _real_path(first["loc"], data)
    what, fix = _describe(first, keys, data, model)
    if len(found) > 1:
        fix += f" (and {len(found) - 1} more)"
    path = _dotted(keys)
    return WorldwrightError(what, where=f"{where}: {path}" if path else where, fix=fix)


def _describe(error: Any, keys: list[str | int], data: dict[str, Any], model: type[BaseModel]) -> tuple[str, str]:
    kind, message = str(error["type"]), str(error["msg"])
    value = _short(error.get("input"))
    if kind == "extra_forbidden":
        known = _fields_at(keys[:-1], data, model)
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


def _fields_at(keys: list[str | int], data: Any, model: type[BaseModel]) -> list[str]:
    """The fields known at a path of the document, found along the spec's own annotations."""
    types: list[Any] = [model]
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
