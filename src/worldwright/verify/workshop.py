"""A copy of a shot that can be taken apart and put together again, hashes and all: where faults are made."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mcap.writer import CompressionType, Writer
from numpy.typing import NDArray

from worldwright.ids import hash_file
from worldwright.outputs import MANIFEST, write_manifest
from worldwright.render.cameras import camera_from
from worldwright.render.info import RGB_FILE, ROWS_FILE, TAKE_FILE, ShotInfo, read_info, write_info
from worldwright.render.passes import PASSES
from worldwright.render.planes import ShardWriter, open_store, plane_shape, shard_path
from worldwright.render.presets import Preset
from worldwright.render.rows import FrameRows, read_rows, write_rows
from worldwright.render.run import request_id
from worldwright.render.video import VideoReader, VideoWriter, join_segments
from worldwright.render.writer import segment_frames
from worldwright.take.container import Channels, scan_chunks
from worldwright.take.schema import LIBRARY, MESSAGES, descriptor_set
from worldwright.verify.context import Context

U8 = NDArray[np.uint8]
Messages = list[tuple[str, int, bytes]]


def copy_shot(source: Path, target: Path) -> None:
    """A copy by hard links: files are replaced, never written into."""
    shutil.copytree(source, target, copy_function=os.link)


def read_messages(path: Path) -> Messages:
    """Topic, log time and bytes of every message of a take."""
    channels = Channels()
    with path.open("rb") as file:
        return [tuple(m) for _, chunk in scan_chunks(file, path.stat().st_size) for m in channels.messages(chunk)]  # type: ignore[misc]


def write_messages(path: Path, messages: Messages) -> None:
    """A take of these messages, with sound checksums and a sound state hash."""
    samples = [data for topic, _, data in messages if topic == "/sample"]
    digest = hashlib.blake2b(b"".join(samples), digest_size=16).hexdigest()
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        writer = Writer(file, compression=CompressionType.ZSTD, enable_crcs=True, enable_data_crcs=True)
        writer.start(profile="protobuf", library=LIBRARY)
        channels = {
            topic: writer.register_channel(
                topic, "protobuf", writer.register_schema(m.DESCRIPTOR.full_name, "protobuf", descriptor_set(topic))
            )
            for topic, m in MESSAGES.items()
        }
        for topic, time, data in messages:
            if topic == "/end":
                end = MESSAGES[topic].FromString(data)
                end.state_hash = digest
                data = end.SerializeToString()  # noqa: PLW2901
            writer.add_message(channels[topic], time, data, time)
        writer.finish()  # type: ignore[no-untyped-call]


class Workshop:
    """An unsealed copy of a shot. Edit it, then ``seal``. ``context`` draws pictures for faults of the camera."""

    def __init__(self, folder: Path, context: Context) -> None:
        self.folder, self.context = folder, context
        self.info: ShotInfo = read_info(folder)

    @property
    def n(self) -> int:
        """Frames."""
        return self.info.n_frames

    # --- parts, read and written whole ---

    def read(self, name: str) -> NDArray[Any]:
        """All frames of a pass as stored; ``rgb`` as it decodes."""
        if name == "rgb":
            return np.stack(list(VideoReader(self.folder / RGB_FILE, self.info.width, self.info.height, self.info.rate).frames()))
        store = open_store(self.folder, [PASSES[name]], self.info.n_frames, self.info.height, self.info.width)
        return np.asarray(store[name][:])

    def write(self, name: str, frames: NDArray[Any]) -> None:
        """Replace all frames of a pass (as many as the shot has, but for ``rgb``)."""
        if name == "rgb":
            part = self.folder / ".rgb.mp4"
            writer = VideoWriter(part, self.info.width, self.info.height, self.info.rate)
            for picture in frames:
                writer.add(np.ascontiguousarray(picture, dtype=np.uint8))
            writer.close()
            (self.folder / RGB_FILE).unlink(missing_ok=True)
            join_segments([part], [len(frames)], self.info.rate, self.folder / RGB_FILE)
            part.unlink()
            return
        plane, size = PASSES[name], segment_frames(self.info)
        shape = plane_shape(plane, self.info.height, self.info.width)
        for first in range(0, self.info.n_frames, size):
            path = shard_path(self.folder, plane, first // size)
            path.unlink(missing_ok=True)
            shard = ShardWriter(path, plane, size, shape)
            for picture in frames[first : first + size]:
                shard.add(np.ascontiguousarray(picture, dtype=plane.dtype))
            shard.close()

    def rows(self) -> FrameRows:
        """The rows."""
        return read_rows(self.folder / ROWS_FILE, self.info.n_frames)

    def write_rows(self, rows: FrameRows) -> None:
        """Replace the rows."""
        (self.folder / ROWS_FILE).unlink()
        write_rows(self.folder / ROWS_FILE, rows)

    def write_info(self, **changes: Any) -> None:
        """Change fields of shot.json; its id follows."""
        self.info = self.info.model_copy(update=changes)
        info = self.info
        camera = camera_from(info.camera, info.tick_rate, where="camera")
        size = Preset(info.preset, info.width, info.height)
        request = request_id(
            info.take_hash, camera, size, info.first_frame, info.n_frames, info.frame_ticks, info.all_passes, info.motion_blur,
            info.renderer.name, info.renderer.version, info.renderer.samples, info.look,
        )  # fmt: skip
        self.info = info.model_copy(update={"id": request})
        (self.folder / "shot.json").unlink()
        write_info(self.folder, self.info)

    def edit_take(self, edit: Callable[[Messages], Messages]) -> None:
        """Replace the take by an edited one whose every hash is right, and name it in shot.json."""
        path = self.folder / TAKE_FILE
        write_messages(path, edit(read_messages(path)))
        self.write_info(take_hash=hash_file(path))

    def shards(self) -> Sequence[Path]:
        """Every file of the shot but the manifest, sorted."""
        return sorted(p for p in self.folder.rglob("*") if p.is_file() and p.name != MANIFEST)

    def seal(self) -> None:
        """Compute every hash again."""
        (self.folder / MANIFEST).unlink(missing_ok=True)
        write_manifest(self.folder, "shot")
