"""The take's topics and header: between ``TakeHeader`` and the protobuf messages of ``take.proto``."""

from __future__ import annotations

import json
from typing import Any

from google.protobuf.message import DecodeError
from mcap_protobuf.schema import build_file_descriptor_set

from worldwright import __version__
from worldwright.errors import WorldwrightError
from worldwright.ids import canonical_json
from worldwright.take import take_pb2 as pb
from worldwright.take.model import TakeHeader
from worldwright.world.files import world_hash
from worldwright.world.spec import World

FORMAT = "worldwright.take/1"
LIBRARY = f"worldwright {__version__}"

MESSAGES: dict[str, Any] = {
    "/header": pb.Header,
    "/sample": pb.Sample,
    "/input": pb.Input,
    "/event": pb.Event,
    "/frame": pb.Frame,
    "/end": pb.End,
}
"""Topic to message. Other topics in a file are ignored."""

MAX_SECONDS = 4 * 3600
"""The longest take. It bounds what a hostile file can make a reader keep in memory."""
MAX_TICK_RATE = 10_000
MAX_JOINTS = 1024
MAX_RIGS = 16
MAX_HEADER_BYTES = 48 << 20


class DamageError(Exception):
    """Why a take cannot be read on: internal, told to the user as a WorldwrightError that says how far the file is whole."""


def keyframe_ticks(header: TakeHeader) -> int:
    """Ticks between the samples in which the writer writes all bodies, moved or not: about a second. Seeking decodes at most this much."""
    return max(1, header.tick_rate // header.sample_ticks) * header.sample_ticks


def descriptor_set(topic: str) -> bytes:
    """The topic's schema as a serialised FileDescriptorSet, as MCAP's protobuf profile wants it."""
    return build_file_descriptor_set(MESSAGES[topic]).SerializeToString(deterministic=True)


def header_bytes(header: TakeHeader) -> bytes:
    """The header message of a take, the same bytes for the same header."""
    message = pb.Header(
        format=FORMAT,
        world_json=canonical_json(header.world.model_dump(mode="json")),
        world_hash=header.world_hash,
        assets=dict(header.assets),
        engine=header.engine,
        engine_version=header.engine_version,
        settings=dict(header.settings),
        policy=header.policy,
        policy_json=canonical_json(dict(header.policy_params)),
        seed=header.seed,
        tick_rate=header.tick_rate,
        sample_ticks=header.sample_ticks,
        frame_ticks=header.frame_ticks,
        body_ids=header.body_ids,
        character_ids=header.character_ids,
        joint_counts=header.joint_counts,
        rigs=header.rigs,
        writer=LIBRARY,
    )
    data = message.SerializeToString(deterministic=True)
    if len(data) > MAX_HEADER_BYTES:
        raise WorldwrightError(
            f"the world takes {len(data):,} bytes in the take's header, the limit is {MAX_HEADER_BYTES:,}",
            where=header.world.name,
            fix="move large meshes into glTF files",
        )
    return data


def check_header(header: TakeHeader) -> None:
    """Raise DamageError where the header's numbers cannot be those of a take of its world."""
    limits = (
        ("tick_rate", header.tick_rate, 1, MAX_TICK_RATE),
        ("sample_ticks", header.sample_ticks, 1, header.tick_rate),
        ("frame_ticks", header.frame_ticks, 1, header.tick_rate),
    )
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise DamageError(f"header.{name} is {value}, not {low} to {high}")
    if header.frame_ticks % header.sample_ticks:
        raise DamageError(f"header.frame_ticks {header.frame_ticks} is no multiple of sample_ticks {header.sample_ticks}")
    entities = len(header.world.entities)
    if any(not 1 <= i <= entities for i in header.body_ids) or list(header.body_ids) != sorted(set(header.body_ids)):
        raise DamageError(f"header.body_ids are not ascending ids of the world's {entities} entities")
    characters = [header.world.character_id(k) for k in range(len(header.world.characters))]
    if not header.character_ids or list(header.character_ids) != characters:
        raise DamageError(f"header.character_ids {list(header.character_ids)[:16]} are not the world's {characters}")
    if len(header.joint_counts) != len(characters) or any(n > MAX_JOINTS for n in header.joint_counts):
        raise DamageError(
            f"header.joint_counts {list(header.joint_counts)[:16]}: one number up to {MAX_JOINTS} per character is needed"
        )
    if len(header.rigs) > MAX_RIGS or len(set(header.rigs)) != len(header.rigs) or not all(header.rigs):
        raise DamageError(f"header.rigs {list(header.rigs)[:16]}: up to {MAX_RIGS} different names are allowed")


def parse_header(data: bytes) -> TakeHeader:
    """The header of a take. Raises DamageError."""
    try:
        message = pb.Header.FromString(data)
        if message.format != FORMAT:
            raise DamageError(f"header.format is {message.format[:64]!r}, this version reads {FORMAT!r}")
        world = World.model_validate_json(message.world_json)
        params = json.loads(message.policy_json or "{}")
    except DamageError:
        raise
    except (DecodeError, ValueError, RecursionError) as error:  # ValueError: those of pydantic and json
        raise DamageError(f"unreadable header ({str(error)[:200]})") from error
    if not isinstance(params, dict):
        raise DamageError("header.policy_json is not an object")
    header = TakeHeader(
        world=world,
        world_hash=message.world_hash,
        assets=dict(sorted(message.assets.items())),
        engine=message.engine,
        engine_version=message.engine_version,
        settings=dict(sorted(message.settings.items())),
        policy=message.policy,
        policy_params=params,
        seed=message.seed,
        tick_rate=message.tick_rate,
        sample_ticks=message.sample_ticks,
        frame_ticks=message.frame_ticks,
        body_ids=tuple(message.body_ids),
        character_ids=tuple(message.character_ids),
        joint_counts=tuple(message.joint_counts),
        rigs=tuple(message.rigs),
    )
    check_header(header)
    if world_hash(world) != header.world_hash:
        raise DamageError(f"header.world_hash is {header.world_hash[:64]!r}, its world's is {world_hash(world)}")
    return header
