"""The page of a run says what failed, of what, and what its drawings mean."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from worldwright.controls import ACTION_NAMES
from worldwright.report import html
from worldwright.report.charts import keys_svg


def _check(name: str, *, passed: bool, skipped: bool = False) -> dict[str, Any]:
    return {
        "name": name,
        "passed": passed,
        "skipped": skipped,
        "score": 0.0,
        "frame": None,
        "value": None,
        "limit": None,
        "message": "",
    }


def test_a_failure_does_not_say_of_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict's table is far below: the list at the top names the task, and the shot with its checks."""
    record: dict[str, Any] = {"wall_s": 1.0, "cpu_s": 1.0, "name": "x", "out": "x"}
    records = [
        record | {"id": "r", "kind": "record", "needs": []},
        record | {"id": "s", "kind": "render", "needs": ["r"], "result": {"frames": 2}},
        record | {"id": "v", "kind": "verify", "needs": ["s"]},
    ]
    (tmp_path / "tasks").mkdir()
    for one in records:
        (tmp_path / "tasks" / f"{one['id']}.json").write_text(json.dumps(one))
    summary = {
        "name": "tiny",
        "tasks": ["r", "s", "v", "p", "h"],
        "task_names": {"p": "pack tiny-compact", "h": "verify tiny-first"},
        "errors": {"p": "no shot is there and verified"},
        "held": ["h"],
        "wall_s": 1.0,
    }
    (tmp_path / "run.json").write_text(json.dumps(summary))
    checks = [_check("depth", passed=False), _check("flow", passed=True), _check("exposure", passed=False, skipped=True)]
    shot = html.ShotEntry("tiny-third", "s", "", "", [], False, checks)
    monkeypatch.setattr(html, "_shot_entry", lambda *_: shot)
    monkeypatch.setattr(html, "_take_entry", lambda _, shots, *__: SimpleNamespace(shots=shots))
    html.write_report(tmp_path, tmp_path / "report")
    page = (tmp_path / "report" / "index.html").read_text()
    failed = page.split("What failed")[1].split("</ul>")[0]
    assert "pack tiny-compact: no shot is there and verified" in failed
    assert 'not true: <a href="#ss">tiny-third</a>: depth</li>' in failed
    assert "Held back because of it: verify tiny-first" in failed
    assert "3 checks, 1 does not apply" in page


def test_the_mouse_curves_have_no_scale() -> None:
    action = np.zeros((24, len(ACTION_NAMES)), np.float32)
    action[3, 8] = -37
    drawing = keys_svg(action, np.zeros(24, np.int64), 24.0)
    assert ">mouse: counts a frame, peak 37</text>" in drawing
    for colour in ("#62c370", "#c678dd"):  # a style: the page's own for all text outweighs an attribute
        assert f'style="fill:{colour}"' in drawing and f'stroke="{colour}"' in drawing


def test_a_page_says_that_every_shot_holds_where_one_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To Jinja ``false`` is no variable, but always false."""
    record: dict[str, Any] = {"wall_s": 1.0, "cpu_s": 1.0, "id": "r", "kind": "record", "needs": []}
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "r.json").write_text(json.dumps(record))
    (tmp_path / "run.json").write_text(json.dumps({"name": "tiny", "tasks": ["r"], "errors": {}, "held": [], "wall_s": 1.0}))
    for passed, line in ((True, "Every shot holds every check."), (False, "Not everything holds: see below.")):
        shot = html.ShotEntry("tiny-third", "s", "", "", [], passed, [_check("depth", passed=passed)])
        monkeypatch.setattr(html, "_take_entry", lambda *_, shot=shot: SimpleNamespace(shots=[shot]))
        html.write_report(tmp_path, tmp_path / "report")
        assert line in (tmp_path / "report" / "index.html").read_text()
