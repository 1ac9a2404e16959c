from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Header(_message.Message):
    __slots__ = ("format", "world_json", "world_hash", "assets", "engine", "engine_version", "settings", "policy", "policy_json", "seed", "tick_rate", "sample_ticks", "frame_ticks", "body_ids", "character_ids", "joint_counts", "rigs", "writer")
    class AssetsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class SettingsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    WORLD_JSON_FIELD_NUMBER: _ClassVar[int]
    WORLD_HASH_FIELD_NUMBER: _ClassVar[int]
    ASSETS_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    ENGINE_VERSION_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    POLICY_JSON_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    TICK_RATE_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_TICKS_FIELD_NUMBER: _ClassVar[int]
    FRAME_TICKS_FIELD_NUMBER: _ClassVar[int]
    BODY_IDS_FIELD_NUMBER: _ClassVar[int]
    CHARACTER_IDS_FIELD_NUMBER: _ClassVar[int]
    JOINT_COUNTS_FIELD_NUMBER: _ClassVar[int]
    RIGS_FIELD_NUMBER: _ClassVar[int]
    WRITER_FIELD_NUMBER: _ClassVar[int]
    format: str
    world_json: str
    world_hash: str
    assets: _containers.ScalarMap[str, str]
    engine: str
    engine_version: str
    settings: _containers.ScalarMap[str, str]
    policy: str
    policy_json: str
    seed: int
    tick_rate: int
    sample_ticks: int
    frame_ticks: int
    body_ids: _containers.RepeatedScalarFieldContainer[int]
    character_ids: _containers.RepeatedScalarFieldContainer[int]
    joint_counts: _containers.RepeatedScalarFieldContainer[int]
    rigs: _containers.RepeatedScalarFieldContainer[str]
    writer: str
    def __init__(self, format: _Optional[str] = ..., world_json: _Optional[str] = ..., world_hash: _Optional[str] = ..., assets: _Optional[_Mapping[str, str]] = ..., engine: _Optional[str] = ..., engine_version: _Optional[str] = ..., settings: _Optional[_Mapping[str, str]] = ..., policy: _Optional[str] = ..., policy_json: _Optional[str] = ..., seed: _Optional[int] = ..., tick_rate: _Optional[int] = ..., sample_ticks: _Optional[int] = ..., frame_ticks: _Optional[int] = ..., body_ids: _Optional[_Iterable[int]] = ..., character_ids: _Optional[_Iterable[int]] = ..., joint_counts: _Optional[_Iterable[int]] = ..., rigs: _Optional[_Iterable[str]] = ..., writer: _Optional[str] = ...) -> None: ...

class CharacterSample(_message.Message):
    __slots__ = ("id", "position", "yaw", "pitch", "velocity", "flags", "clip", "clip_time", "ground", "bones")
    ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    YAW_FIELD_NUMBER: _ClassVar[int]
    PITCH_FIELD_NUMBER: _ClassVar[int]
    VELOCITY_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    CLIP_FIELD_NUMBER: _ClassVar[int]
    CLIP_TIME_FIELD_NUMBER: _ClassVar[int]
    GROUND_FIELD_NUMBER: _ClassVar[int]
    BONES_FIELD_NUMBER: _ClassVar[int]
    id: int
    position: _containers.RepeatedScalarFieldContainer[float]
    yaw: float
    pitch: float
    velocity: _containers.RepeatedScalarFieldContainer[float]
    flags: int
    clip: str
    clip_time: float
    ground: int
    bones: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, id: _Optional[int] = ..., position: _Optional[_Iterable[float]] = ..., yaw: _Optional[float] = ..., pitch: _Optional[float] = ..., velocity: _Optional[_Iterable[float]] = ..., flags: _Optional[int] = ..., clip: _Optional[str] = ..., clip_time: _Optional[float] = ..., ground: _Optional[int] = ..., bones: _Optional[_Iterable[float]] = ...) -> None: ...

class Sample(_message.Message):
    __slots__ = ("tick", "t_ns", "changed", "poses", "velocities", "characters", "contacts", "cameras")
    TICK_FIELD_NUMBER: _ClassVar[int]
    T_NS_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    POSES_FIELD_NUMBER: _ClassVar[int]
    VELOCITIES_FIELD_NUMBER: _ClassVar[int]
    CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    CONTACTS_FIELD_NUMBER: _ClassVar[int]
    CAMERAS_FIELD_NUMBER: _ClassVar[int]
    tick: int
    t_ns: int
    changed: _containers.RepeatedScalarFieldContainer[int]
    poses: _containers.RepeatedScalarFieldContainer[float]
    velocities: _containers.RepeatedScalarFieldContainer[float]
    characters: _containers.RepeatedCompositeFieldContainer[CharacterSample]
    contacts: _containers.RepeatedScalarFieldContainer[int]
    cameras: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, tick: _Optional[int] = ..., t_ns: _Optional[int] = ..., changed: _Optional[_Iterable[int]] = ..., poses: _Optional[_Iterable[float]] = ..., velocities: _Optional[_Iterable[float]] = ..., characters: _Optional[_Iterable[_Union[CharacterSample, _Mapping]]] = ..., contacts: _Optional[_Iterable[int]] = ..., cameras: _Optional[_Iterable[float]] = ...) -> None: ...

class Input(_message.Message):
    __slots__ = ("tick", "t_ns", "keys", "pressed", "released", "mouse_dx", "mouse_dy")
    TICK_FIELD_NUMBER: _ClassVar[int]
    T_NS_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    PRESSED_FIELD_NUMBER: _ClassVar[int]
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    MOUSE_DX_FIELD_NUMBER: _ClassVar[int]
    MOUSE_DY_FIELD_NUMBER: _ClassVar[int]
    tick: int
    t_ns: int
    keys: int
    pressed: int
    released: int
    mouse_dx: int
    mouse_dy: int
    def __init__(self, tick: _Optional[int] = ..., t_ns: _Optional[int] = ..., keys: _Optional[int] = ..., pressed: _Optional[int] = ..., released: _Optional[int] = ..., mouse_dx: _Optional[int] = ..., mouse_dy: _Optional[int] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("tick", "t_ns", "kind", "entity", "other", "value")
    TICK_FIELD_NUMBER: _ClassVar[int]
    T_NS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    OTHER_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    tick: int
    t_ns: int
    kind: str
    entity: int
    other: int
    value: float
    def __init__(self, tick: _Optional[int] = ..., t_ns: _Optional[int] = ..., kind: _Optional[str] = ..., entity: _Optional[int] = ..., other: _Optional[int] = ..., value: _Optional[float] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("frame", "tick", "t_ns", "issued", "effective", "flags", "intent", "cameras")
    FRAME_FIELD_NUMBER: _ClassVar[int]
    TICK_FIELD_NUMBER: _ClassVar[int]
    T_NS_FIELD_NUMBER: _ClassVar[int]
    ISSUED_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    CAMERAS_FIELD_NUMBER: _ClassVar[int]
    frame: int
    tick: int
    t_ns: int
    issued: _containers.RepeatedScalarFieldContainer[float]
    effective: _containers.RepeatedScalarFieldContainer[float]
    flags: int
    intent: str
    cameras: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, frame: _Optional[int] = ..., tick: _Optional[int] = ..., t_ns: _Optional[int] = ..., issued: _Optional[_Iterable[float]] = ..., effective: _Optional[_Iterable[float]] = ..., flags: _Optional[int] = ..., intent: _Optional[str] = ..., cameras: _Optional[_Iterable[float]] = ...) -> None: ...

class End(_message.Message):
    __slots__ = ("tick", "t_ns", "frames", "samples", "state_hash")
    TICK_FIELD_NUMBER: _ClassVar[int]
    T_NS_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    tick: int
    t_ns: int
    frames: int
    samples: int
    state_hash: str
    def __init__(self, tick: _Optional[int] = ..., t_ns: _Optional[int] = ..., frames: _Optional[int] = ..., samples: _Optional[int] = ..., state_hash: _Optional[str] = ...) -> None: ...
