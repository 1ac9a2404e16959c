"""One shot becomes one episode: its rows, pictures and passes, written and counted."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldwright.controls import Flag
from worldwright.dataset.codecs import CODECS, COMPACT_DEPTH_NONE, LIMITS, Encoded, encode_pass
from worldwright.dataset.features import COLUMNS, DEPTH_KEY, OWN_COLUMNS, RGB_KEY
from worldwright.dataset.layout import compact_stem, master_path
from worldwright.dataset.sources import Source, task_text
from worldwright.dataset.stats import COLOUR_LEVELS, PictureStats, Stats, flatten, number_stats, sample_frames
from worldwright.dataset.tables import TableFiles, data_table, one_row
from worldwright.dataset.videos import Placed, VideoFiles
from worldwright.errors import WorldwrightError
from worldwright.ids import content_id
from worldwright.outputs import check_manifest, manifest_hash, read_manifest
from worldwright.render.info import RGB_FILE
from worldwright.render.passes import DEPTH_FAR, DEPTH_NEAR
from worldwright.render.planes import STORE, open_store
from worldwright.render.rows import FrameRows
from worldwright.render.shot import Shot

Array = NDArray[Any]


def depth_level_metres() -> Array:
    """What each of the 4,096 levels of compact depth means; the last, no surface, is NaN."""
    levels = np.arange(4096)
    metres = DEPTH_NEAR * (DEPTH_FAR / DEPTH_NEAR) ** (levels / (COMPACT_DEPTH_NONE - 1))
    return np.where(levels == COMPACT_DEPTH_NONE, np.nan, metres)


def rows_hash(columns: Mapping[str, Array]) -> str:
    """BLAKE2b-128 over our own columns of an episode, as bytes in order: equal in the shot and in the dataset."""
    digest = hashlib.blake2b(digest_size=16)
    for column in OWN_COLUMNS:
        digest.update(column.name.encode())
        digest.update(np.ascontiguousarray(columns[column.name], dtype=column.dtype).tobytes())
    return digest.hexdigest()


def store_hashes(files: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """One hash for each Zarr group among the files of a manifest, by the folder that it lies in (``""`` for a shot's own)."""
    groups: dict[str, dict[str, Any]] = {}
    for name, mark in files.items():
        folder, group, inside = f"/{name}".partition(f"/{STORE}/")
        if group:
            groups.setdefault(folder.removeprefix("/"), {})[inside] = mark.get("hash")
    return {folder: content_id(group) for folder, group in groups.items()}


def own_columns(frames: FrameRows) -> dict[str, Array]:
    """A shot's rows as our columns."""
    state = np.column_stack([frames.character_position, frames.character_yaw, frames.character_pitch, frames.character_velocity])
    return {
        "observation.state": state.astype(np.float32),
        "action": frames.action,
        "effective_action": frames.effective,
        "flags": frames.flags.astype(np.int64),
        "ground": frames.ground.astype(np.int64),
        "tick": frames.tick,
        "t_ns": frames.t_ns,
        "camera.c2w": frames.c2w.reshape(len(frames), 16),
        "camera.K": frames.K.reshape(len(frames), 9),
        "camera.near_far": np.column_stack([frames.near, frames.far]),
    }


def stored_frames(array: Any, where: str, span: int = 8) -> Iterator[Array]:
    """The frames of a Zarr array in order, a few read at a time: a read costs zarr a millisecond or two, however small."""
    for start in range(0, array.shape[0], span):
        try:
            block = np.asarray(array[start : start + span])
        except Exception as error:  # zarr and its codecs raise many kinds for damaged bytes
            raise WorldwrightError(
                f"frames from {start} on are unreadable ({error})", where=where, fix="render the shot again"
            ) from error
        yield from block


@dataclass(slots=True)
class Totals:
    """What the whole dataset adds up to, kept while its episodes go by."""

    episodes: int = 0
    frames: int = 0
    tasks: list[str] = field(default_factory=list)
    worlds: dict[str, dict[str, Any]] = field(default_factory=dict)
    rgb: PictureStats = field(default_factory=lambda: PictureStats(3, 256))
    depth: PictureStats = field(default_factory=lambda: PictureStats(1, 4096))
    held: Array = field(default_factory=lambda: np.zeros(0))
    """Frames' worth of each action's first eight entries (keys)."""
    combinations: dict[str, float] = field(default_factory=dict)
    """Frames by the keys held in them for at least half of their ticks, such as ``forward+run``."""
    flags: dict[str, int] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)
    """By ``rgb``, ``data``, ``master/PASS`` and ``compact/PASS``."""
    worst: dict[str, tuple[float, int, int]] = field(default_factory=dict)
    """Compact pass to its worst value, and the episode and frame of it."""
    codecs: dict[str, set[str]] = field(default_factory=dict)
    checks: dict[str, dict[str, Any]] = field(default_factory=dict)
    verified: int = 0

    def add_bytes(self, name: str, count: int) -> None:
        """Count bytes."""
        self.bytes[name] = self.bytes.get(name, 0) + count


class EpisodeWriter:
    """Writes shots as episodes 0, 1, 2, ... below ``root``. One writer; ``close`` finishes all files."""

    def __init__(self, root: Path, fps: int, tier: str, data: TableFiles, episodes: TableFiles, provenance: TableFiles) -> None:
        self._root, self._fps, self._tier = root, fps, tier
        self._data, self._episodes, self._provenance = data, episodes, provenance
        self._rgb = VideoFiles(root, RGB_KEY, fps)
        self._depth = VideoFiles(root, DEPTH_KEY, fps)
        self.totals = Totals()

    def add(self, source: Source) -> None:
        """Append a shot. Its files are compared with its manifest first, and every frame of its video is decoded."""
        if wrong := check_manifest(source.path, "shot"):
            raise WorldwrightError(wrong[0], where=str(source.path), fix="render the shot again, or worldwright seal and verify it")
        if manifest_hash(source.path) != source.manifest:
            raise WorldwrightError("was replaced while it was packed", where=str(source.path), fix="pack again")
        shot, totals, episode = Shot.open(source.path), self.totals, self.totals.episodes
        count = len(shot)
        with shot.take() as take:
            header = take.header
        task = task_text(header.policy, header.world.name)
        if task not in totals.tasks:
            totals.tasks.append(task)
        own = own_columns(shot.frames)
        columns = own | {
            "timestamp": (np.arange(count) / self._fps).astype(np.float32),
            "frame_index": np.arange(count),
            "episode_index": np.full(count, episode),
            "index": np.arange(totals.frames, totals.frames + count),
            "task_index": np.full(count, totals.tasks.index(task)),
        }
        data_place = self._data.append(data_table(columns))
        stats: dict[str, Stats] = {column.name: number_stats(columns[column.name]) for column in COLUMNS}
        videos: dict[str, Placed] = {RGB_KEY: self._rgb.append(source.path / RGB_FILE, count)}
        totals.add_bytes("rgb", (source.path / RGB_FILE).stat().st_size)
        rgb = self._count_rgb(shot)
        stats[RGB_KEY] = rgb.stats(COLOUR_LEVELS)
        totals.rgb.merge(rgb)
        encoded: dict[str, Encoded] = {}
        if self._tier in ("master", "both"):
            self._copy_master(shot, episode)
        if self._tier in ("compact", "both"):
            encoded = self._encode(shot, episode)
            if "depth" in encoded:
                videos[DEPTH_KEY] = self._depth.append(encoded["depth"].path, count)
                depth = self._depth_stats(shot)
                stats[DEPTH_KEY] = depth.stats(depth_level_metres())
                totals.depth.merge(depth)
                encoded["depth"].path.unlink()
        self._write_episode(episode, count, task, data_place, videos, stats)
        self._write_provenance(episode, source, shot, header, own, encoded)
        self._count(own, source, encoded, episode)
        if shot.info.world_hash not in totals.worlds:
            totals.worlds[shot.info.world_hash] = {
                "name": shot.info.world_name,
                "packs": {name: pack.licence for name, pack in header.world.packs.items()}
                | ({level.file: level.licence} if (level := header.world.level) is not None else {}),
                "entities": {str(e.id): [e.name, e.label] for e in shot.info.entities},
            }
        totals.episodes += 1
        totals.frames += count

    def _count_rgb(self, shot: Shot) -> PictureStats:
        """Decode every frame: a video with one too few, or one that cannot be read, is refused here."""
        stats, wanted, seen = PictureStats(3, 256), set(sample_frames(len(shot))), 0
        for picture in shot.rgb_frames():
            if seen in wanted:
                stats.add(picture)
            seen += 1
        if seen != len(shot):
            raise WorldwrightError(
                f"{seen} frames decoded, {len(shot)} rows", where=str(shot.path / RGB_FILE), fix="render it again"
            )
        return stats

    def _depth_stats(self, shot: Shot) -> PictureStats:
        stats, codec = PictureStats(1, 4096), CODECS["depth", "depth-log12"]
        for i in sample_frames(len(shot)):
            levels = codec.pack(shot.read("depth", i))
            assert levels is not None  # every depth has a level
            stats.add(levels)
        return stats

    def _copy_master(self, shot: Shot, episode: int) -> None:
        """The shot's Zarr group as it is: the same files where the file system can link them, else copies."""
        source, target = shot.path / STORE, self._root / master_path(episode) / STORE
        for path in sorted(source.rglob("*")):
            if not path.is_file():
                continue
            relative = path.relative_to(source)
            place = target / relative
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, place)
            except OSError:
                shutil.copyfile(path, place)
            if len(relative.parts) > 1:
                self.totals.add_bytes(f"master/{relative.parts[0]}", path.stat().st_size)

    def _encode(self, shot: Shot, episode: int) -> dict[str, Encoded]:
        """All passes, a thread each and as many at once as there are cores; each encoder has one thread, so that bytes do not vary."""

        stop = threading.Event()

        def one(name: str) -> Encoded:
            def frames() -> Iterator[Array]:
                for values in stored_frames(arrays[name], f"{shot.path}: {name}"):
                    if stop.is_set():
                        raise CancelledError
                    yield values

            return encode_pass(name, frames, self._root / compact_stem(episode, name), self._fps)

        info = shot.info
        arrays = open_store(shot.path, info.pass_infos, info.n_frames, info.height, info.width)
        names = list(arrays)
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            futures = [pool.submit(one, name) for name in names]
            try:
                return {name: future.result() for name, future in zip(names, futures, strict=True)}
            finally:  # after a failure, or Ctrl-C, nobody needs the others
                stop.set()

    def _write_episode(
        self, episode: int, count: int, task: str, data: tuple[int, int], videos: dict[str, Placed], stats: dict[str, Stats]
    ) -> None:
        chunk, file = self._episodes.place()
        row: dict[str, Any] = {
            "episode_index": episode,
            "tasks": [task],
            "length": count,
            "data/chunk_index": data[0],
            "data/file_index": data[1],
            "dataset_from_index": self.totals.frames,
            "dataset_to_index": self.totals.frames + count,
        }
        for key, placed in videos.items():
            row |= placed.columns(key)
        row |= flatten(stats)
        row |= {"meta/episodes/chunk_index": chunk, "meta/episodes/file_index": file}
        self._episodes.append(one_row(row))

    def _write_provenance(
        self, episode: int, source: Source, shot: Shot, header: Any, own: dict[str, Array], encoded: dict[str, Encoded]
    ) -> None:
        info = shot.info
        verdict = source.verdict or {}
        row = {
            "episode_index": episode,
            "shot": info.id,
            "take_hash": info.take_hash,
            "world_hash": info.world_hash,
            "world": info.world_name,
            "policy": header.policy,
            "policy_params": json.dumps(dict(header.policy_params), sort_keys=True),
            "seed": header.seed,
            "engine": f"{header.engine} {header.engine_version}",
            "camera": json.dumps(info.camera, sort_keys=True),
            "renderer": f"{info.renderer.name} {info.renderer.version}",
            "device": info.renderer.device,
            "preset": info.preset,
            "first_frame": info.first_frame,
            "tick_rate": info.tick_rate,
            "frame_ticks": info.frame_ticks,
            "motion_blur": info.motion_blur is not None,
            "verified": source.verified,
            "checks": json.dumps(_check_lines(verdict), sort_keys=True),
            "rows_hash": rows_hash(own),
            "store_hash": store_hashes(read_manifest(source.path, "shot")["files"]).get("", ""),
            "codecs": json.dumps({name: e.codec.name for name, e in encoded.items()}, sort_keys=True),
            "errors": json.dumps({name: [_finite(e.worst), e.worst_frame] for name, e in encoded.items()}, sort_keys=True),
        }
        self._provenance.append(one_row(row))

    def _count(self, own: dict[str, Array], source: Source, encoded: dict[str, Encoded], episode: int) -> None:
        totals = self.totals
        keys = own["action"][:, :8].astype(np.float64)
        totals.held = keys.sum(axis=0) if totals.held.size == 0 else totals.held + keys.sum(axis=0)
        down = (keys >= 0.5) @ (1 << np.arange(8))
        for mask, number in zip(*np.unique(down, return_counts=True), strict=True):
            name = key_names(int(mask))
            totals.combinations[name] = totals.combinations.get(name, 0) + int(number)
        for flag in Flag:
            found = int(np.count_nonzero(own["flags"] & flag.value))
            totals.flags[str(flag.name)] = totals.flags.get(str(flag.name), 0) + found
        for name, e in encoded.items():
            totals.add_bytes(f"compact/{name}", e.bytes)
            totals.codecs.setdefault(name, set()).add(e.codec.name)
            before = totals.worst.get(name)
            if before is None or LIMITS[name].worse(before[0], e.worst) != before[0]:
                totals.worst[name] = (e.worst, episode, e.worst_frame)
        totals.verified += source.verified
        for check in (source.verdict or {}).get("checks", []):
            entry = totals.checks.setdefault(str(check.get("name")), {"passed": 0, "failed": 0, "skipped": 0, "evidence": {}})
            entry["skipped" if check.get("skipped") else "passed" if check.get("passed") else "failed"] += 1
            for key, value in (check.get("evidence") or {}).items():
                if isinstance(value, int) and not isinstance(value, bool):
                    entry["evidence"][key] = entry["evidence"].get(key, 0) + value

    def abort(self) -> None:
        """Let go of every file, in a folder that is thrown away: what goes wrong meanwhile does not matter any more."""
        for files in (self._rgb, self._depth, self._data, self._episodes, self._provenance):
            with contextlib.suppress(Exception):
                files.close()

    def close(self) -> None:
        """Finish every file."""
        for files in (self._rgb, self._depth, self._data, self._episodes, self._provenance):
            files.close()
        self.totals.add_bytes("data", self._data.total_bytes)


def key_names(mask: int) -> str:
    """``forward+run`` of a key mask; ``none`` of 0."""
    from worldwright.controls import KEYS

    return "+".join(key for bit, key in enumerate(KEYS) if mask & (1 << bit)) or "none"


def _finite(value: float) -> float | None:
    """JSON has no infinity: the PSNR of an exact copy is null."""
    return value if np.isfinite(value) else None


def _check_lines(verdict: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {key: check.get(key) for key in ("name", "passed", "skipped", "score", "message")}
        for check in verdict.get("checks", [])
        if isinstance(check, Mapping)
    ]
