"""The page in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from worldwright.take.reader import Take

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (as root: apt-get install chromium)")

DRAWN = "canvas[data-frame]"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def pixels(page: Any) -> list[int]:
    return page.eval_on_selector(
        DRAWN, "c => Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((_, k) => k % 4 != 3))"
    )


def change(a: list[int], b: list[int]) -> float:
    return sum(abs(x - y) for x, y in zip(a, b, strict=True)) / len(a) if len(a) == len(b) else 255.0


def until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait; the page's own policy allows no script of Playwright's that would wait in it."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.03)


def frame_of(page: Any) -> int:
    return int(page.get_attribute(DRAWN, "data-frame"))


def played(page: Any, frames: int) -> None:
    """Wait until so many frames have been shown."""
    first = frame_of(page)
    until(lambda: abs(frame_of(page) - first) >= frames)


def test_keys_move_the_picture_and_a_recording_is_a_take_that_verifies(browser: Any, server: Any) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(server.address)
    page.wait_for_selector(DRAWN, timeout=60_000)
    played(page, 4)
    still = pixels(page)
    played(page, 4)
    assert change(still, pixels(page)) < 1
    page.keyboard.down("w")
    played(page, 12)
    page.keyboard.up("w")
    assert change(still, pixels(page)) > 3
    until(lambda: page.get_attribute("#rates", "data-delay"))
    assert "pictures/s" in page.inner_text("#rates") and "ms" in page.inner_text("#rates")
    assert "engine" in page.inner_text(".pane .label")

    page.click("#record")
    page.wait_for_selector(".rec:visible")
    page.keyboard.down("w")
    played(page, 20)
    page.keyboard.up("w")
    page.click("#record")
    until(lambda: "Kept as" in page.inner_text("#notice"))
    until(lambda: ": verified" in page.inner_text("#notice"))
    (take,) = server.takes.glob("person-*.mcap")
    with Take.open(take) as kept:
        assert kept.n_frames >= 20 and kept.frames().issued[:, 0].sum() >= 10
    page.close()
    assert server.empty()
    assert problems == []
    take.unlink()


def test_two_thumbs_walk_and_look_on_a_phone(browser: Any, server: Any) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(server.address)
    page.wait_for_selector(DRAWN, timeout=60_000)
    played(page, 2)
    assert page.is_visible("#stick-walk") and page.is_visible("#stick-look")
    assert page.evaluate(
        "document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight"
    )
    for stick, at in (("#stick-walk", (0.5, 0.05)), ("#stick-look", (0.95, 0.5))):
        before, box = pixels(page), page.locator(stick).bounding_box()
        x, y = box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"]
        point = {"pointerId": 7, "pointerType": "touch", "clientX": x, "clientY": y, "isPrimary": True, "bubbles": True}
        page.evaluate("id => document.querySelector(id).setPointerCapture = () => {}", stick)
        page.dispatch_event(stick, "pointerdown", point)
        played(page, 12)
        page.dispatch_event(stick, "pointerup", point)
        assert change(before, pixels(page)) > 2, stick
    start = time.monotonic()
    context.close()
    assert server.empty() and time.monotonic() - start < 20
