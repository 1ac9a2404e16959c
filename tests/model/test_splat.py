"""What is thrown into a view lands where the camera says, and what is behind stays behind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from worldwright.model.memory import Archive  # noqa: E402
from worldwright.model.splat import rays, splat  # noqa: E402
from worldwright.transforms import camera_look  # noqa: E402

H, W = 24, 40
K = torch.tensor([[20.0, 0, 20.0], [0, 20.0, 12.0], [0, 0, 1]])
HERE = torch.eye(4, dtype=torch.float64)


def picture(seed: int) -> torch.Tensor:
    return torch.randint(0, 256, (H, W, 3), generator=torch.Generator().manual_seed(seed), dtype=torch.uint8)


def moved(x: float, y: float, z: float) -> torch.Tensor:
    pose = HERE.clone()
    pose[:3, 3] = torch.tensor([x, y, z])
    return pose


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 99), st.floats(0.3, 40))
def test_a_picture_seen_from_its_own_place_is_another(seed: int, far: float) -> None:
    rgb = picture(seed)
    depth = torch.full((H, W), far) + torch.linspace(0, 0.05 * far, W)
    depth[3, 4] = torch.nan
    pose = torch.from_numpy(camera_look((30.0, -20.0, 1.0), 0.7, -0.2))
    out = splat(rgb[None, None], depth[None, None], pose[None, None], K, pose[None])
    known = torch.isfinite(depth)
    assert torch.equal(out.rgb[0][known], rgb[known])
    assert torch.allclose(out.depth[0][known], depth[known], rtol=1e-4)
    assert bool(out.mask[0][known].all())


def test_a_wall_shifts_by_another_number_of_pixels_than_its_distance_says() -> None:
    """A plane 4 m away seen from 1 m to the right: 20 * 1 / 4 = 5 pixels to the left; what comes in from the right is unknown."""
    rgb = picture(1)
    out = splat(rgb[None, None], torch.full((1, 1, H, W), 4.0), HERE[None, None], K, moved(1, 0, 0)[None])
    assert torch.equal(out.rgb[0, :, : W - 5], rgb[:, 5:])
    assert not bool(out.mask[0, :, W - 5 :].any()) and bool(out.mask[0, :, : W - 5].all())


def test_what_is_behind_a_wall_shines_through_when_one_walks_up_to_it() -> None:
    """From 2 m to 0.7 m: a pixel of the wall becomes nearly three; the room behind must not be seen between them."""
    wall, room = torch.full((H, W, 3), 200, dtype=torch.uint8), torch.full((H, W, 3), 10, dtype=torch.uint8)
    rgb, depth = torch.stack([wall, room])[None], torch.stack([torch.full((H, W), 2.0), torch.full((H, W), 6.0)])[None]
    out = splat(rgb, depth, HERE.repeat(1, 2, 1, 1), K, moved(0, 0, 1.3)[None])
    assert bool((out.rgb == 200).all()) and torch.allclose(out.depth, torch.tensor(0.7))


def test_the_nearer_of_two_sources_is_hidden() -> None:
    rgb = torch.stack([torch.full((H, W, 3), 10, dtype=torch.uint8), torch.full((H, W, 3), 200, dtype=torch.uint8)])[None]
    for near, seen in (((5.0, 3.0), 200), ((3.0, 5.0), 10)):
        depth = torch.stack([torch.full((H, W), z) for z in near])[None]
        assert bool((splat(rgb, depth, HERE.repeat(1, 2, 1, 1), K, HERE[None]).rgb == seen).all())


def test_views_of_a_batch_are_mixed_up() -> None:
    rgb = torch.stack([picture(1), picture(2)])[:, None]
    depth = torch.full((2, 1, H, W), 4.0)
    views = torch.stack([HERE, moved(1, 0, 0)])
    both = splat(rgb, depth, HERE.repeat(2, 1, 1, 1), K, views)
    for k in range(2):
        alone = splat(rgb[k : k + 1], depth[k : k + 1], HERE[None, None], K, views[k : k + 1])
        assert torch.equal(both.rgb[k], alone.rgb[0]) and torch.equal(both.mask[k], alone.mask[0])


def test_what_is_behind_the_camera_is_drawn() -> None:
    out = splat(picture(1)[None, None], torch.full((1, 1, H, W), 2.0), HERE[None, None], K, moved(0, 0, 5)[None])
    assert not bool(out.mask.any()) and bool(torch.isnan(out.depth).all())


def archive() -> Archive:
    """Three frames of a wall 4 m in front: from here, from 3 m to the right, and one that looks away."""
    made = Archive(4, H, W, K)
    for k, pose in enumerate((HERE, moved(3, 0, 0), HERE @ torch.diag(torch.tensor([-1.0, 1, -1, 1], dtype=torch.float64)))):
        made.add(torch.full((H, W, 3), k, dtype=torch.uint8), torch.full((H, W), 4.0), pose)
    made.seal()
    return made


def test_the_frame_that_covers_most_is_not_the_first_choice() -> None:
    kept = archive()
    assert kept.choose(moved(1.2, 0, 0)).tolist() == [0, 1]
    assert kept.choose(moved(2.3, 0, 0)).tolist() == [1, 0]
    assert kept.choose(moved(1.2, 0, 0), count=1).tolist() == [0]
    assert kept.choose(moved(1.2, 0, 0), allowed=torch.tensor([False, True, True])).tolist() == [1]


def test_a_frame_of_the_room_behind_the_wall_is_chosen() -> None:
    kept = archive()
    kept.add(torch.full((H, W, 3), 9, dtype=torch.uint8), torch.full((H, W), 4.0), moved(0, 0, 6))  # sees what is 10 m away
    assert 3 not in kept.choose(HERE).tolist()


def test_the_captures_frames_make_room_for_dreams() -> None:
    kept = archive()
    blank = torch.zeros((H, W, 3), dtype=torch.uint8)
    places = [kept.add(blank, torch.full((H, W), 1.0), HERE) for _ in range(3)]
    assert places == [3, 3, 3] and kept.count == 4
    kept.forget()
    assert kept.count == 3 and kept.rgb[1].float().mean() == 1


def test_a_view_without_any_memory_fails() -> None:
    sketch = Archive(2, H, W, K).sketch(HERE)
    assert not bool(sketch.mask.any()) and sketch.rgb.shape == (1, H, W, 3)


def test_rays_go_through_pixel_corners() -> None:
    r = rays(H, W, K)
    assert torch.allclose(r[0, 0], torch.tensor([(0.5 - 20) / 20, (0.5 - 12) / 20, 1.0]))
    assert np.allclose(r[12, 20], [0.025, 0.025, 1])
