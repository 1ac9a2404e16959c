"""Maps of Doom become worlds whose surfaces are the map's, and no WAD, however damaged, does more than end in one line."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest

from worldwright.errors import WorldwrightError
from worldwright.world.generators.doom.shape import Plane, leaf_polygons, moving_sectors, sector_at, surfaces
from worldwright.world.generators.doom.wad import LEAF, NONE, Level, Wad

DOOR = 1


def lumps() -> dict[str, bytes]:
    """A room of 256 x 128 units, cut at x = 128 by a manual door into two sectors: floor 0 and ceiling 128, and a shut one at 16.

    Vertices 0 to 5 go round it clockwise, so that the room is on the right of its lines; line 6 is the door, its front to the west."""
    vertices = [(0, 0), (0, 128), (128, 128), (256, 128), (256, 0), (128, 0)]
    lines = [(k, (k + 1) % 6, 0, 0, 0, k, NONE) for k in range(6)] + [(2, 5, 0, DOOR, 0, 6, 7)]
    sides = [(0, 0, b"-", b"-", b"W", 0 if k in (0, 1, 5) else 1) for k in range(6)]
    sides += [(0, 0, b"W", b"W", b"-", 0), (0, 0, b"W", b"W", b"-", 1)]
    segs = [(0, 1, 0, 0, 0, 0), (1, 2, 0, 1, 0, 0), (2, 5, 0, 6, 0, 0), (5, 0, 0, 5, 0, 0)]
    segs += [(2, 3, 0, 2, 0, 0), (3, 4, 0, 3, 0, 0), (4, 5, 0, 4, 0, 0), (5, 2, 0, 6, 1, 0)]
    box = [0] * 8
    return {
        "THINGS": b"".join(
            struct.pack("<hhhHH", *t) for t in [(32, 64, 90, 1, 7), (64, 64, 0, 3004, 7), (96, 64, 0, 3004, 7 | 16)]
        ),
        "LINEDEFS": b"".join(struct.pack("<HHHHhHH", *line) for line in lines),
        "SIDEDEFS": b"".join(struct.pack("<hh8s8s8sH", *side) for side in sides),
        "VERTEXES": b"".join(struct.pack("<hh", *v) for v in vertices),
        "SEGS": b"".join(struct.pack("<HHhHHh", *seg) for seg in segs),
        "SSECTORS": struct.pack("<HHHH", 4, 0, 4, 4),
        "NODES": struct.pack("<hhhh8hHH", 128, 128, 0, -128, *box, LEAF | 0, LEAF | 1),
        "SECTORS": struct.pack("<hh8s8shhh", 0, 128, b"F", b"C", 160, 0, 0)
        + struct.pack("<hh8s8shhh", 16, 16, b"F", b"F_SKY1", 160, 0, 0),
    }


def write_wad(path: Path, parts: dict[str, bytes]) -> Path:
    data, directory = b"", [(12, 0, b"MAP01")]
    for name, lump in parts.items():
        directory.append((12 + len(data), len(lump), name.encode()))
        data += lump
    head = struct.pack("<4sII", b"PWAD", len(directory), 12 + len(data))
    path.write_bytes(head + data + b"".join(struct.pack("<II8s", *entry) for entry in directory))
    return path


@pytest.fixture
def room(tmp_path: Path) -> Level:
    return Wad(write_wad(tmp_path / "room.wad", lumps())).level("MAP01")


def area(points: np.ndarray) -> float:
    after = np.roll(points, -1, axis=0)
    return 0.5 * float(np.sum(points[:, 0] * after[:, 1] - after[:, 0] * points[:, 1]))


def test_subsectors_are_cut_out_of_the_plane_exactly_once(room: Level) -> None:
    polygons = leaf_polygons(room)
    assert [area(p) for p in polygons] == [128.0 * 128, 128.0 * 128]  # counter-clockwise: positive
    assert polygons[0][:, 0].max() == 128 == polygons[1][:, 0].min()
    assert [sector_at(room, x, 64.0) for x in (1.0, 127.0, 129.0, 255.0)] == [0, 0, 1, 1]


def test_a_doors_planes_and_the_walls_that_hang_from_them_move(room: Level) -> None:
    assert moving_sectors(room) == {1}
    found = list(surfaces(room))
    parts = {surface.plane for surface in found}
    assert parts == {Plane(), Plane(part="sky"), Plane(1, "floor"), Plane(1, "ceiling")}
    # The door's face, seen from the west: it hangs from the ceiling at 16 and covers the opening up to 128 wherever it goes.
    face = next(s.points for s in found if s.plane == Plane(1, "ceiling") and s.look == "wall")
    normal = np.cross(face[1] - face[0], face[2] - face[0])
    assert (face[:, 0] == 128).all() and normal[0] < 0 and face[:, 2].min() == 16 and face[:, 2].max() >= 128


def test_a_ceiling_of_sky_is_sky_and_no_ceiling(room: Level) -> None:
    looks = [(s.look, s.plane.sector) for s in surfaces(room) if abs(np.ptp(s.points[:, 2])) == 0]
    assert looks == [("floor", -1), ("ceiling", -1), ("floor", 1), ("sky", -1)]


@pytest.mark.parametrize(
    ("lump", "at", "value", "words"),
    [
        ("LINEDEFS", 0, b"\x99\x00", "vertex 153 of 6"),
        ("SIDEDEFS", 28, b"\x07\x00", "sector 7 of 2"),
        ("SEGS", 6, b"\x50\x00", "line 80 of 7"),
        ("SEGS", 8, b"\x01\x00", "does not have"),
        ("SSECTORS", 0, b"\xff\xff", "seg 65534 of 8"),
        ("SSECTORS", 4, b"\x00\x00", "without segs"),
        ("NODES", 24, b"\x00\x00", "before its child"),
        ("NODES", 26, b"\x05\x80", "sub-sector 5 of 2"),
        ("VERTEXES", 24, b"\x00", "cannot be"),
        ("NODES", 0, None, "no BSP tree"),
    ],
)
def test_an_index_that_leaves_its_table_is_refused(tmp_path: Path, lump: str, at: int, value: bytes | None, words: str) -> None:
    parts = lumps()
    parts[lump] = b"" if value is None else parts[lump][:at] + value + parts[lump][at + len(value) :]
    with pytest.raises(WorldwrightError, match=words):
        Wad(write_wad(tmp_path / "bad.wad", parts)).level("MAP01")


def test_what_is_no_wad_or_ends_too_soon_is_refused(tmp_path: Path) -> None:
    whole = write_wad(tmp_path / "w.wad", lumps()).read_bytes()
    for name, data in (
        ("text", b"hello, this is no WAD"),
        ("short", whole[:8]),
        ("cut", whole[:-5]),
        ("many", whole[:4] + b"\xff" * 8),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(WorldwrightError):
            Wad(path)
    with pytest.raises(WorldwrightError, match="no map 'MAP07'; there are: MAP01"):
        Wad(tmp_path / "w.wad").level("MAP07")
    with pytest.raises(WorldwrightError, match="own format"):
        Wad(write_wad(tmp_path / "udmf.wad", {"TEXTMAP": b"", **lumps()})).level("MAP01")


def test_a_map_of_freedoom_stands_where_the_game_has_it() -> None:
    pytest.importorskip("vizdoom", reason="vizdoom is not installed")
    from worldwright.world.files import world_hash
    from worldwright.world.generators import generate

    world = generate("doom", 0, {"map": "MAP02"})
    assert world_hash(world) == world_hash(generate("doom", 0, {"map": "MAP02"}))
    # The start is at map units (640, -576) and looks north: 38.4 of them are a metre.
    assert world.spawns[0].position == (round(640 / 38.4, 6), -15.0, 0.0) and world.spawns[0].yaw == pytest.approx(math.pi / 2)
    assert world.characters[0].height == 1.75 and world.camera.shear
    assert world.level is not None and (world.level.file, world.level.name) == ("freedoom2.wad", "MAP02")
    calm = generate("doom", 0, {"map": "MAP02", "monsters": False})
    assert {e.label for e in world.entities} - {e.label for e in calm.entities} == {"monster"}
    with pytest.raises(WorldwrightError, match="no map 'MAP99'"):
        generate("doom", 0, {"map": "MAP99"})
