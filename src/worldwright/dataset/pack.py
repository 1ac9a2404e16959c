"""Shots into a dataset: LeRobotDataset v3 with our passes beside it, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av

import worldwright
from worldwright.controls import ACTION_NAMES, EFFECT_NAMES, Flag
from worldwright.dataset.card import write_card
from worldwright.dataset.codecs import CODECS, CONTAINERS, LIMITS, lerobot_depth_info
from worldwright.dataset.episode import EpisodeWriter, Totals, depth_level_metres
from worldwright.dataset.features import COLUMNS, DEPTH_KEY, RGB_KEY, video_feature
from worldwright.dataset.layout import (
    CHUNK_FILES,
    CODEBASE_VERSION,
    DATA_MB,
    DATA_PATH,
    INFO_PATH,
    OWN_PATH,
    STATS_PATH,
    TIERS,
    VIDEO_MB,
    VIDEO_PATH,
    WORLDS_PATH,
)
from worldwright.dataset.sources import Source, open_sources, with_verdicts
from worldwright.dataset.stats import COLOUR_LEVELS, Stats, number_stats
from worldwright.dataset.tables import data_files, episode_files, provenance_file, read_column, write_tasks
from worldwright.dataset.videos import is_full, video_info
from worldwright.errors import WorldwrightError
from worldwright.outputs import check_new_folder, new_folder
from worldwright.render.info import ShotInfo
from worldwright.words import counted


@dataclass(frozen=True, slots=True)
class PackReport:
    """What was packed. ``bytes`` by part, as in the card; ``seconds`` of video."""

    out: str
    tier: str
    episodes: int
    frames: int
    seconds: float
    bytes: dict[str, int]
    verified: int

    def line(self) -> str:
        """The report on one line."""
        size = sum(self.bytes.values()) / 1e6
        checked = "all verified" if self.verified == self.episodes else f"{self.verified} of {self.episodes} verified"
        return (
            f"{self.out}: {counted(self.episodes, 'episode')}, {counted(self.frames, 'frame')} ({self.seconds:.1f} s), {checked}, "
            f"tier {self.tier}, {size:.1f} MB"
        )


def check_request(shots: Sequence[Path], out: Path, tier: str) -> list[Source]:
    """The shots, if a dataset ``out`` can be made of them as far as can be said at once: before they are verified, which takes minutes.

    Raises:
        WorldwrightError: an unknown tier, a folder that may not be replaced, or shots that do not fit into one dataset.
    """
    if tier not in TIERS:
        raise WorldwrightError(f"unknown tier {tier!r}", fix=f"one of {', '.join(TIERS)}")
    check_new_folder(out, "dataset")
    return open_sources(shots)


def pack(
    shots: Sequence[Path],
    out: Path,
    *,
    tier: str = "master",
    name: str = "dataset",
    verdicts: Mapping[Path, Mapping[str, Any]] | None = None,
    allow_unverified: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> PackReport:
    """Write the shots, in this order, as episodes of the dataset ``out``.

    Args:
        shots: finished shot folders of one size, rate and set of passes.
        out: the new folder; a finished dataset there is replaced.
        tier: ``master`` (the passes as they are, lossless), ``compact`` (a video per pass within declared errors) or ``both``.
        name: what the card calls the dataset.
        verdicts: shot to its verdict (``Verdict.as_dict``). Without one, ``SHOT.verdict.json`` beside the shot is read.
        allow_unverified: take shots without a verdict, or that failed; the card says so.
        progress: called with frames done and frames in all.

    Raises:
        WorldwrightError: for the first shot that may not go in, for one whose files are not what its manifest says, and for a full disk.
    """
    sources = with_verdicts(check_request(shots, out, tier), verdicts or {}, allow_unverified)
    total = sum(source.info.n_frames for source in sources)
    try:
        with new_folder(out, "dataset") as root:
            totals = _write(root, sources, tier, name, lambda done: progress(done, total) if progress else None)
    except (OSError, av.error.FFmpegError) as error:
        if not is_full(error):
            raise
        raise WorldwrightError(
            "the disk is full", where=str(out.parent), fix="free some space and pack again; nothing half-written is left"
        ) from error
    fps = int(sources[0].info.rate)
    return PackReport(str(out), tier, totals.episodes, totals.frames, totals.frames / fps, dict(totals.bytes), totals.verified)


def _write(root: Path, sources: Sequence[Source], tier: str, name: str, progress: Callable[[int], None]) -> Totals:
    info = sources[0].info
    fps = int(info.rate)
    writer = EpisodeWriter(root, fps, tier, data_files(root), episode_files(root), provenance_file(root))
    try:
        for source in sources:
            writer.add(source)
            progress(writer.totals.frames)
        writer.close()
    except BaseException:
        writer.abort()
        raise
    totals = writer.totals
    write_tasks(root, totals.tasks)
    stats = dataset_stats(root, totals)
    _write_json(root / STATS_PATH, stats)
    lerobot = lerobot_info(root, info, totals, depth=DEPTH_KEY in stats)
    _write_json(root / INFO_PATH, lerobot)
    own = own_info(info, totals, tier, name)
    _write_json(root / OWN_PATH, own)
    _write_json(root / WORLDS_PATH, totals.worlds)
    write_card(root, own, totals, lerobot)
    return totals


def dataset_stats(root: Path, totals: Totals) -> dict[str, Stats]:
    """``stats.json``: of numbers over all rows, a column in memory at a time; of pictures over all that were sampled."""
    stats: dict[str, Stats] = {column.name: number_stats(read_column(root, column.name)) for column in COLUMNS}
    stats[RGB_KEY] = totals.rgb.stats(COLOUR_LEVELS)
    if totals.depth.pictures:
        stats[DEPTH_KEY] = totals.depth.stats(depth_level_metres())
    return stats


def lerobot_info(root: Path, info: ShotInfo, totals: Totals, *, depth: bool) -> dict[str, Any]:
    """``info.json`` as LeRobotDataset v3 has it."""

    def first(key: str) -> dict[str, Any]:
        read = video_info(root / VIDEO_PATH.format(video_key=key, chunk_index=0, file_index=0))
        return read | {"video.g": int(info.rate), "video.fast_decode": 0, "video.video_backend": "pyav"}

    rgb = first(RGB_KEY) | {"is_depth_map": False}
    if info.rgb is not None:
        rgb |= {"video.g": info.rgb.group} | {f"video.{k}": v for k, v in info.rgb.settings.items() if k in ("crf", "preset")}
    features: dict[str, Any] = {RGB_KEY: video_feature(info.height, info.width, 3, rgb)}
    if depth:
        features[DEPTH_KEY] = video_feature(info.height, info.width, 1, first(DEPTH_KEY) | lerobot_depth_info())
    features |= {column.name: column.feature() for column in COLUMNS}
    return {
        "codebase_version": CODEBASE_VERSION,
        "robot_type": "worldwright",
        "total_episodes": totals.episodes,
        "total_frames": totals.frames,
        "total_tasks": len(totals.tasks),
        "chunks_size": CHUNK_FILES,
        "data_files_size_in_mb": DATA_MB,
        "video_files_size_in_mb": VIDEO_MB,
        "fps": int(info.rate),
        "splits": {"train": f"0:{totals.episodes}"},
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH,
        "features": features,
    }


def own_info(info: ShotInfo, totals: Totals, tier: str, name: str) -> dict[str, Any]:
    """``worldwright.json``: what LeRobot has no place for."""
    passes: dict[str, Any] = {}
    for entry in info.pass_infos:
        passes[entry.name] = {"dtype": entry.dtype, "channels": entry.channels, **entry.attributes()}
        if entry.name in totals.worst:
            limit = LIMITS[entry.name]
            value, episode, frame = totals.worst[entry.name]
            passes[entry.name]["compact"] = {
                "codecs": {codec: _codec(entry.name, codec) for codec in sorted(totals.codecs[entry.name])},
                "metric": limit.metric,
                "limit": limit.limit,
                "at_most" if limit.best == "low" else "at_least": limit.limit,
                "unit": limit.unit,
                "worst": value if value not in (float("inf"), float("-inf")) else None,
                "worst_episode": episode,
                "worst_frame": frame,
            }
    return {
        "format": "worldwright.dataset/1",
        "name": name,
        "tier": tier,
        "width": info.width,
        "height": info.height,
        "fps": int(info.rate),
        "passes": passes,
        "action_names": list(ACTION_NAMES),
        "effect_names": list(EFFECT_NAMES),
        "flag_names": {str(flag.name): flag.value for flag in Flag},
        "conventions": info.conventions.model_dump(),
        "bytes": dict(sorted(totals.bytes.items())),
        "versions": {"worldwright": worldwright.__version__, "av": av.__version__},
    }


def _codec(name: str, codec: str) -> dict[str, Any]:
    found = CODECS[name, codec]
    return {"encoder": found.encoder, "pix_fmt": found.pix_fmt, "options": found.options, "container": CONTAINERS[found.encoder]}


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=4, ensure_ascii=False, allow_nan=False) + "\n")
