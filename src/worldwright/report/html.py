"""The report of a run: one folder that opens without a network. Contact sheets of every pass, the path on a map, keys over time,
verification results, timings."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup
from PIL import Image

from worldwright import __version__
from worldwright.assets.scene import build_scene
from worldwright.errors import WorldwrightError
from worldwright.outputs import new_folder
from worldwright.render.info import RGB_FILE
from worldwright.render.passes import PASSES
from worldwright.render.shot import Shot
from worldwright.report.charts import keys_svg, map_svg
from worldwright.report.compare import side_by_side, way_of
from worldwright.report.pictures import colourise, contact_sheet
from worldwright.take.reader import Take

SHEET_FRAMES = 6


@dataclass(frozen=True, slots=True)
class ShotEntry:
    """What the page shows of a shot."""

    name: str
    anchor: str
    sheet: str
    video: str
    facts: list[tuple[str, str]]
    passed: bool | None
    checks: list[dict[str, Any]]

    @property
    def failing(self) -> list[str]:
        """The names of the checks that do not hold."""
        return [check["name"] for check in self.checks if not check["passed"] and not check["skipped"]]


@dataclass(frozen=True, slots=True)
class TakeEntry:
    """What the page shows of a take, with its shots."""

    name: str
    anchor: str
    facts: list[tuple[str, str]]
    map: Markup
    keys: Markup
    shots: list[ShotEntry]
    comparisons: list[tuple[str, str]]
    """Camera and picture of the same frames by several renderers or in several looks."""


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text())
    except FileNotFoundError:
        raise WorldwrightError(
            "no such file: not the folder of a run", where=str(path), fix="name a folder that worldwright make wrote"
        ) from None
    except ValueError as error:
        raise WorldwrightError(f"not JSON ({error})", where=str(path), fix="run worldwright make again") from None
    if not isinstance(document, dict):
        raise WorldwrightError("not a JSON object", where=str(path))
    return document


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def _sheet(shot: Shot, path: Path) -> None:
    count = shot.info.n_frames
    chosen = sorted({int(k) for k in np.linspace(0, count - 1, min(SHEET_FRAMES, count))})
    rows = [("rgb", [shot.rgb(k) for k in chosen])] if shot.info.rgb is not None else []
    rows += [(name, [colourise(name, shot.read(name, k)) for k in chosen]) for name in PASSES if name in shot.info.passes]
    _write_jpeg(contact_sheet(rows), path)


def _write_jpeg(picture: Image.Image, path: Path) -> None:
    # Encoded in memory: Pillow says of a file that could not be written neither which nor why.
    encoded = io.BytesIO()
    picture.save(encoded, format="JPEG", quality=88)
    path.write_bytes(encoded.getvalue())


def _shot_entry(record: Mapping[str, Any], verdict: Mapping[str, Any] | None, run: Path, out: Path) -> ShotEntry:
    shot = Shot.open(run / record["out"])
    result = record["result"]
    sheet, video = f"pictures/{record['id'][:12]}.jpg", f"pictures/{record['id'][:12]}.mp4"
    _sheet(shot, out / sheet)
    if shot.info.rgb is not None:
        shutil.copyfile(shot.path / RGB_FILE, out / video)
    frames = result["frames"]
    facts = [
        ("frames", str(frames)),
        ("size", f"{shot.info.width} x {shot.info.height} at {float(shot.info.rate):g} frames/s"),
        ("renderer", way_of(shot.info)),
        ("camera", str(shot.info.camera.get("rig") or shot.info.camera.get("kind", shot.info.camera))),
        ("rendered in", f"{_duration(record['wall_s'])} ({frames / max(record['wall_s'], 1e-9):.1f} frames/s)"),
        ("verified in", _duration(verdict["wall_s"]) if verdict else "not verified"),
        ("on disk", f"{sum(f.stat().st_size for f in shot.path.rglob('*') if f.is_file()) / 1e6:.1f} MB"),
    ]
    checks = list(verdict["result"]["checks"]) if verdict else []
    return ShotEntry(
        record["name"],
        record["id"][:12],
        sheet,
        video if shot.info.rgb is not None else "",
        facts,
        verdict["result"]["passed"] if verdict else None,
        checks,
    )


def _take_entry(
    record: Mapping[str, Any],
    shots: list[ShotEntry],
    renders: Sequence[Mapping[str, Any]],
    run: Path,
    out: Path,
    packs: Mapping[str, Path],
) -> TakeEntry:
    take = Take.open(run / record["out"])
    header, table = take.header, take.frames()
    instants = [take.instant(int(tick)).characters[0] for tick in table.tick]
    path = np.array([c.position for c in instants])
    yaw = np.array([c.yaw for c in instants])
    walked = float(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1).sum())
    facts = [
        ("world", f"{header.world.name} ({len(header.world.entities)} entities)"),
        ("policy", f"{header.policy}, seed {header.seed}"),
        ("length", f"{len(table) / header.frame_rate:.1f} s, {len(table)} frames"),
        ("walked", f"{walked:.1f} m"),
        ("recorded in", f"{_duration(record['wall_s'])}"),
        ("state hash", take.state_hash[:12]),
    ]
    comparisons = []
    for k, (camera, picture) in enumerate(side_by_side([Shot.open(run / render["out"]) for render in renders])):
        comparisons.append((camera, f"pictures/{record['id'][:12]}-{k}.jpg"))
        _write_jpeg(picture, out / comparisons[-1][1])
    drawing = map_svg(header.world, build_scene(header.world, packs, images=False), path, yaw)
    # Both drawings escape the names that they quote.
    return TakeEntry(
        record["name"],
        record["id"][:12],
        facts,
        Markup(drawing),
        Markup(keys_svg(table.issued, table.flags, header.frame_rate)),
        shots,
        comparisons,
    )


def write_report(run: Path, out: Path) -> None:
    """Write ``out``/index.html and its pictures for the run in folder ``run``. What failed is on the page, too."""
    summary = _read_json(run / "run.json")
    packs = {name: Path(path) for name, path in summary.get("packs", {}).items()}
    names: dict[str, str] = summary.get("task_names", {})
    records: dict[str, dict[str, Any]] = {}
    for ident in summary["tasks"]:
        path = run / "tasks" / f"{ident}.json"
        if path.is_file():
            records[ident] = _read_json(path)
    with new_folder(out, "report") as part:
        (part / "pictures").mkdir()
        takes = []
        for record in (r for r in records.values() if r["kind"] == "record"):
            renders = [r for r in records.values() if r["kind"] == "render" and record["id"] in r["needs"]]
            entries = []
            for render in renders:
                verdict = next((r for r in records.values() if r["kind"] == "verify" and render["id"] in r["needs"]), None)
                entries.append(_shot_entry(render, verdict, run, part))
            takes.append(_take_entry(record, entries, renders, run, part, packs))
        shots = [shot for take in takes for shot in take.shots]
        packs_made = [r for r in records.values() if r["kind"] == "pack"]
        work: dict[str, dict[str, float]] = {}
        for record in records.values():
            row = work.setdefault(record["kind"], {"tasks": 0, "wall": 0.0, "cpu": 0.0})
            row["tasks"] += 1
            row["wall"] += record["wall_s"]
            row["cpu"] += record["cpu_s"]
        environment = Environment(
            loader=PackageLoader("worldwright.report"), autoescape=select_autoescape(), trim_blocks=True, lstrip_blocks=True
        )
        page = environment.get_template("run.html").render(
            name=summary["name"],
            version=__version__,
            takes=takes,
            frames=sum(r["result"]["frames"] for r in records.values() if r["kind"] == "render"),
            shots=shots,
            verified=sum(shot.passed is True for shot in shots),
            untrue=[shot for shot in shots if shot.passed is False],
            errors=[(names.get(ident, ""), line) for ident, line in summary["errors"].items()],
            held=[names.get(ident, ident[:12]) for ident in summary["held"]],
            wall=_duration(summary["wall_s"]),
            work=work,
            datasets=packs_made,
        )
        (part / "index.html").write_text(page)
