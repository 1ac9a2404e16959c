"""The dataset's card: README.md with the front matter that the Hugging Face hub reads, and what one wants to know before training on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from worldwright.controls import KEYS
from worldwright.dataset.codecs import LIMITS
from worldwright.dataset.episode import Totals
from worldwright.dataset.layout import CARD_PATH


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in lines)


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def _size(count: float) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def licence_of(totals: Totals) -> str:
    """The hub's licence id: that of our own code, which makes the built-in worlds, when every pack that was used is CC0; else ``other``,
    with the list in the text."""
    used = {licence for world in totals.worlds.values() for licence in world["packs"].values()}
    return "apache-2.0" if all(licence.lower().startswith("cc0") for licence in used) else "other"


def write_card(root: Path, own: dict[str, Any], totals: Totals, lerobot: dict[str, Any]) -> None:
    """Write ``README.md``."""
    front = {
        "license": licence_of(totals),
        "task_categories": ["robotics"],
        "tags": ["LeRobot", "worldwright", "world-model"],
        "configs": [{"config_name": "default", "data_files": "data/*/*.parquet"}],
    }
    head = yaml.safe_dump(front, sort_keys=False).strip()
    sections = [
        f"---\n{head}\n---",
        f"# {own['name']}",
        _opening(own, totals),
        "## What is in it\n\n" + _contents(totals),
        "## Sizes\n\n" + _sizes(own, totals),
        "## Actions\n\n" + _actions(totals),
        "## Verification\n\n" + _verification(totals),
        "## Passes\n\n" + _passes(own),
        "## Conventions\n\n" + _conventions(own),
        "## Licences\n\n" + _licences(totals),
        "## Reading it\n\n" + _reading(own, lerobot),
    ]
    (root / CARD_PATH).write_text("\n\n".join(sections) + "\n")


def _opening(own: dict[str, Any], totals: Totals) -> str:
    hours = totals.frames / own["fps"] / 3600
    return (
        f"{totals.episodes} episodes, {totals.frames} frames, {hours:.4g} hours at {own['fps']} frames a second, "
        f"{own['width']}x{own['height']}, tier `{own['tier']}`. Recorded in a game engine, rendered again offline, "
        f"{'and verified frame by frame' if totals.verified == totals.episodes else 'NOT all verified'}, by Worldwright. "
        "The format is LeRobotDataset v3; the other passes stand beside it under the same episode and frame index."
    )


def _contents(totals: Totals) -> str:
    worlds = sorted({world["name"] for world in totals.worlds.values()})
    tasks = "\n".join(f"- {task}" for task in totals.tasks)
    return f"Worlds ({len(totals.worlds)}): {', '.join(worlds)}.\n\nTasks:\n\n{tasks}"


def _sizes(own: dict[str, Any], totals: Totals) -> str:
    hours = totals.frames / own["fps"] / 3600
    common = totals.bytes.get("rgb", 0) + totals.bytes.get("data", 0)
    rows = []
    for tier in ("master", "compact"):
        parts = {name.split("/")[1]: count for name, count in totals.bytes.items() if name.startswith(f"{tier}/")}
        if parts:
            listed = ", ".join(f"{name} {_size(count / hours)}" for name, count in sorted(parts.items()))
            rows.append([tier, _size((common + sum(parts.values())) / hours), _size(common / hours), listed])
    if not rows:
        rows.append([own["tier"], _size(common / hours), _size(common / hours), "none"])
    return "Bytes per hour of video:\n\n" + _table(["tier", "all", "rgb and rows", "passes"], rows)


def _actions(totals: Totals) -> str:
    held = [[key, _share(float(value), totals.frames)] for key, value in zip(KEYS, totals.held, strict=True)]
    combined = sorted(totals.combinations.items(), key=lambda item: (-item[1], item[0]))
    keys = [[name, _share(count, totals.frames)] for name, count in combined[:24]]
    flags = [[name.lower(), _share(count, totals.frames)] for name, count in totals.flags.items()]
    more = f"\n\n{len(combined) - 24} rarer combinations are left out." if len(combined) > 24 else ""
    return (
        "Share of the time that each key is held:\n\n"
        + _table(["key", "held"], held)
        + "\n\nFrames by the keys held in them:\n\n"
        + _table(["keys", "frames"], keys)
        + more
        + "\n\nFrames in which an action showed less effect than issued, or another:\n\n"
        + _table(["flag", "frames"], flags)
    )


def _verification(totals: Totals) -> str:
    if not totals.checks:
        return f"**None of the {totals.episodes} shots was verified.** They were packed with `--allow-unverified`."
    rows = []
    for name, entry in sorted(totals.checks.items()):
        evidence = ", ".join(f"{count} {key.replace('_', ' ')}" for key, count in sorted(entry["evidence"].items()))
        rows.append([name, str(entry["passed"]), str(entry["failed"]), str(entry["skipped"]), evidence])
    head = f"{totals.verified} of {totals.episodes} shots passed every check that applies to them."
    if totals.verified < totals.episodes:
        head = f"**{head}** The others were packed with `--allow-unverified`; `meta/provenance.parquet` says which."
    return head + "\n\n" + _table(["check", "shots passed", "failed", "not applicable", "evidence, over all shots"], rows)


def _passes(own: dict[str, Any]) -> str:
    rows = []
    for name, entry in own["passes"].items():
        compact = entry.get("compact")
        error = "lossless"
        if compact:
            limit = LIMITS[name]
            sign = "at most" if limit.best == "low" else "at least"
            worst = (
                "exact"
                if compact["worst"] is None or math.isclose(compact["worst"], 0.0)
                else f"{compact['worst']:.4g} {limit.unit}"
            )
            error = f"{limit.metric} {sign} {limit.limit:g} {limit.unit}; worst frame {worst}"
        rows.append([name, entry["kind"], entry["unit"], entry["encoding"], error])
    rows.insert(0, ["rgb", "the picture, anti-aliased", "sRGB", "H.264 4:2:0, BT.709", "lossy; encoded once, copied since"])
    return _table(["pass", "what", "unit", "stored values", "error"], rows) + (
        "\n\nErrors of the compact tier are measured on every pixel of every frame after encoding, against the stored values of the master."
        if own["tier"] != "master"
        else ""
    )


def _conventions(own: dict[str, Any]) -> str:
    return "\n".join(f"- {key.replace('_', ' ')}: {value}" for key, value in own["conventions"].items())


def _licences(totals: Totals) -> str:
    packs = sorted({(name, licence) for world in totals.worlds.values() for name, licence in world["packs"].items()})
    text = "Built-in worlds, textures and characters are made by Worldwright's own code (Apache-2.0)."
    if packs:
        text += " Asset packs that were used:\n\n" + _table(["pack", "licence"], packs)
    return text


def _reading(own: dict[str, Any], lerobot: dict[str, Any]) -> str:
    depth = ""
    if "observation.images.depth" in lerobot["features"]:
        depth = (
            "\n\nDepth follows LeRobot's own convention (12 bits, logarithmic, parameters in `meta/info.json`); where there is no surface it "
            "reads as the declared maximum, `video.depth_max`."
        )
    return (
        "```python\nimport worldwright.dataset\n\n"
        'clips = worldwright.dataset.open("PATH", length=16, passes=("rgb", "depth", "entity"))\n'
        "clip = clips[0]  # arrays: rgb [16, height, width, 3], action [16, 10], camera.c2w [16, 4, 4], ...\n```\n\n"
        'or, for rgb, state and actions, `LeRobotDataset(repo_id, root="PATH")`. `effective_action` is what an action did; `flags` are bits: '
        + ", ".join(f"{name.lower()} {value}" for name, value in own["flag_names"].items())
        + ". Ids of the entity pass are named in `meta/worlds.json`, by the world's hash in `meta/provenance.parquet`."
        + depth
    )
