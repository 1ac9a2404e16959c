"""The columns of a dataset: what each holds, as LeRobot's ``info.json`` says it and as Parquet stores it.

``action[i]`` is what was held from frame i to frame i + 1, as everywhere. The effect of an action is named ``effective_action`` and not
``action.effective``: LeRobot's policies take every key that begins with ``action`` for something to predict.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from worldwright.controls import ACTION_NAMES, EFFECT_NAMES

RGB_KEY = "observation.images.rgb"
DEPTH_KEY = "observation.images.depth"

STATE_NAMES = ("x_m", "y_m", "z_m", "yaw_rad", "pitch_rad", "vx_mps", "vy_mps", "vz_mps")
"""``observation.state``: the character's feet, look and velocity in world axes."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: ``size`` numbers of ``dtype`` a frame; a size of 1 is stored as a plain number, as LeRobot does."""

    name: str
    dtype: str
    size: int
    names: tuple[str, ...] | None = None

    def feature(self) -> dict[str, Any]:
        """The entry in ``info.json``."""
        return {"dtype": self.dtype, "shape": [self.size], "names": None if self.names is None else list(self.names)}

    def arrow(self) -> pa.DataType:
        """The type in Parquet."""
        value = pa.type_for_alias(self.dtype)
        return value if self.size == 1 else pa.list_(value, self.size)

    def hugging_face(self) -> dict[str, Any]:
        """The type as the ``datasets`` library (4 and later) names it."""
        value = {"dtype": self.dtype, "_type": "Value"}
        return value if self.size == 1 else {"feature": value, "length": self.size, "_type": "List"}


def _matrix(name: str, rows: int, columns: int) -> tuple[str, ...]:
    return tuple(f"{name}{r}{c}" for r in range(rows) for c in range(columns))


OWN_COLUMNS = (
    Column("observation.state", "float32", len(STATE_NAMES), STATE_NAMES),
    Column("action", "float32", len(ACTION_NAMES), ACTION_NAMES),
    Column("effective_action", "float32", len(EFFECT_NAMES), EFFECT_NAMES),
    Column("flags", "int64", 1),
    Column("ground", "int64", 1),
    Column("tick", "int64", 1),
    Column("t_ns", "int64", 1),
    Column("camera.c2w", "float64", 16, _matrix("m", 4, 4)),
    Column("camera.K", "float64", 9, _matrix("k", 3, 3)),
    Column("camera.near_far", "float64", 2, ("near_m", "far_m")),
)
"""What this package adds to the columns that every LeRobot dataset has."""

LEROBOT_COLUMNS = (
    Column("timestamp", "float32", 1),
    Column("frame_index", "int64", 1),
    Column("episode_index", "int64", 1),
    Column("index", "int64", 1),
    Column("task_index", "int64", 1),
)
"""What LeRobot demands: seconds since the episode's start, the frame in its episode, the episode, the row, and the task."""

COLUMNS = OWN_COLUMNS + LEROBOT_COLUMNS


def data_schema() -> pa.Schema:
    """The schema of ``data/*/*.parquet``, with the metadata by which the ``datasets`` library knows the types."""
    features = {column.name: column.hugging_face() for column in COLUMNS}
    metadata = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    return pa.schema([(column.name, column.arrow()) for column in COLUMNS], metadata=metadata)


def video_feature(height: int, width: int, channels: int, info: dict[str, Any]) -> dict[str, Any]:
    """The entry of a video in ``info.json``."""
    return {"dtype": "video", "shape": [height, width, channels], "names": ["height", "width", "channels"], "info": info}
