"""What path-traced pictures cost and how near they are to the truth, against Blender Cycles in the same run.

    python benchmarks/pathtraced.py [--frames 3] [--json FILE]

Records a courtyard (about 100 objects, a skinned character), then renders the same frames at 720p with 4 samples, denoised, in both, from
changing the scene to the picture in memory. At 320x180 both are compared with references of 512 samples of their own (at 720p those of
Cycles take half an hour). Motion blur is compared with a sharp picture of as many samples. Exits 1 when a target is missed: 0.4 of the
time of Cycles, at least its SSIM, 1.6 times the time of a sharp picture. Cycles is bpy, which ``make bench`` puts into ``.venv-bpy``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import _cycles
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter

from worldwright.record.loop import record
from worldwright.render.cameras import make_camera
from worldwright.render.presets import Preset
from worldwright.render.protocol import Moment
from worldwright.render.run import BLUR, moments
from worldwright.render.stage import Stage
from worldwright.take.reader import Take
from worldwright.verify.shot_exposure import luma
from worldwright.world.generators import generate

SAMPLES = 4
RATIO, BLUR_RATIO = 0.4, 1.6
LARGE, SMALL = (1280, 720), (320, 180)


def ssim(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Structural similarity of two sRGB pictures by luma (Wang et al. 2004; Gaussian window, sigma 1.5)."""
    x, y = luma(a).astype(np.float64), luma(b).astype(np.float64)
    mx, my = gaussian_filter(x, 1.5), gaussian_filter(y, 1.5)
    vx, vy = gaussian_filter(x * x, 1.5) - mx * mx, gaussian_filter(y * y, 1.5) - my * my
    both = gaussian_filter(x * y, 1.5) - mx * my
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return float(np.mean((2 * mx * my + c1) * (2 * both + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2))))


def ours(take: Take, numbers: list[int], size: tuple[int, int], samples: int, blur: bool) -> tuple[float, list[NDArray[Any]]]:
    """Seconds a frame (the first, which compiles, is not counted) and the pictures."""
    table, camera = take.frames(), make_camera("third", take.header)
    preset = Preset("bench", *size)
    wanted: list[Moment] = []
    for k in numbers:
        wanted += [m for _, m in moments(take, table, camera, preset, 0, k, k + 1, BLUR if blur else None)]
    with Stage({}) as stage:
        artist = stage.open(stage.artist("pathtraced"), take, None, *size, ("rgb",), samples)
        seconds, pictures = [], []
        for moment in (wanted[0], *wanted):
            start = time.perf_counter()
            artist.submit(moment)
            pictures.append(artist.collect()["rgb"].copy())
            seconds.append(time.perf_counter() - start)
    return float(np.median(seconds[1:])), pictures[1:]


def main() -> int:
    """Run it."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--frames", type=int, default=3)
    options.add_argument("--reference", type=int, default=512, help="samples of the references")
    options.add_argument("--json", type=Path, help="write the figures there")
    args = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-pathtraced-") as name:
        folder = Path(name)
        path = folder / "courtyard.mcap"
        record(generate("courtyard", 3, {}), {}, path, policy="explore", policy_params={}, seconds=5, seed=3)
        with Take.open(path) as take:
            numbers = [int(k) for k in np.linspace(0, take.n_frames - 1, args.frames)]  # the frames of _cycles.export
            sharp, _ = ours(take, numbers, LARGE, SAMPLES, False)
            blurred, _ = ours(take, numbers, LARGE, SAMPLES, True)
            figures = {"seconds": sharp, "blur_ratio": blurred / sharp}
            print(f"motion blur, {SAMPLES} samples as well: {figures['blur_ratio']:.2f} times (target {BLUR_RATIO})", flush=True)
            _cycles.export(path, folder / "large", frames=args.frames, width=LARGE[0], height=LARGE[1])
            cycles = _cycles.run(folder / "large", "none", SAMPLES)
            figures |= {"cycles_seconds": cycles, "ratio": sharp / cycles}
            print(
                f"720p, {SAMPLES} samples, denoised: {sharp:.2f} s a frame, Cycles {cycles:.2f} s: {figures['ratio']:.2f} (target {RATIO})",
                flush=True,
            )
            few, many = (ours(take, numbers[:1], SMALL, n, False)[1][0] for n in (SAMPLES, args.reference))
        _cycles.export(path, folder / "small", frames=1, width=SMALL[0], height=SMALL[1])
        for samples in (SAMPLES, args.reference):
            _cycles.run(folder / "small", "rgb", samples)
        theirs = [
            np.asarray(Image.open(folder / "small" / f"cycles0_rgb{n}.png").convert("RGB")) for n in (SAMPLES, args.reference)
        ]
    figures |= {"ssim": ssim(few, many), "cycles_ssim": ssim(*theirs)}
    print(
        f"SSIM to {args.reference} samples of its own at {SMALL[0]}x{SMALL[1]}: {figures['ssim']:.4f}, Cycles {figures['cycles_ssim']:.4f}"
    )
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1))
    good = figures["ratio"] <= RATIO and figures["ssim"] >= figures["cycles_ssim"] and figures["blur_ratio"] <= BLUR_RATIO
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
