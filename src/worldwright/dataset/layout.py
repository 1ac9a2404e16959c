"""Where the parts of a dataset lie, and its limits: LeRobotDataset v3's own, and what stands beside it."""

from __future__ import annotations

CODEBASE_VERSION = "v3.0"
CHUNK_FILES = 1000
"""Files in a chunk folder."""
DATA_MB = 100
VIDEO_MB = 200
CHUNK = "chunk-{chunk_index:03d}/file-{file_index:03d}"
DATA_PATH = f"data/{CHUNK}.parquet"
VIDEO_PATH = f"videos/{{video_key}}/{CHUNK}.mp4"
EPISODES_PATH = f"meta/episodes/{CHUNK}.parquet"
INFO_PATH, STATS_PATH, TASKS_PATH = "meta/info.json", "meta/stats.json", "meta/tasks.parquet"

OWN_PATH = "meta/worldwright.json"
"""Ours: tier, passes, conventions."""
WORLDS_PATH = "meta/worlds.json"
"""Ours: world hash to its name, its entities and the licences of its packs."""
PROVENANCE_PATH = "meta/provenance.parquet"
"""Ours: a row per episode: its shot, take, world and verdict, its passes' codecs and errors, the hash of its rows."""
CARD_PATH = "README.md"

MAX_VIDEO_SECONDS = 1000
"""LeRobot's readers look frames up by 32-bit float seconds within 1e-4 s; from 1,024 s on such a number is only good to 1.2e-4 s."""

TIERS = ("master", "compact", "both")


def master_path(episode: int) -> str:
    """The folder of an episode's Zarr group, which is called as in a shot: lossless."""
    return f"passes/episode-{episode:06d}"


def compact_stem(episode: int, name: str) -> str:
    """An episode's video of one pass, without its ending: ``mp4`` or ``mkv`` by its codec. Depth is not here but LeRobot's."""
    return f"passes/episode-{episode:06d}/{name}"


def next_file(chunk: int, file: int) -> tuple[int, int]:
    """The indices after these."""
    return (chunk + 1, 0) if file == CHUNK_FILES - 1 else (chunk, file + 1)
