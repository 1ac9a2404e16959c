"""What can be known to be wrong with a recipe before anything is made: minutes of recording are not for a typing error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from worldwright.engine.registry import engine_names, habits_of
from worldwright.errors import WorldwrightError
from worldwright.factory.recipe import Recipe
from worldwright.factory.sources import camera_source, policy_params
from worldwright.record.policies import make_policy
from worldwright.record.rates import check_rates, ticks_of
from worldwright.render.cameras import free_camera, no_camera
from worldwright.render.presets import parse_preset
from worldwright.render.registry import renderer_names


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Errors within say that they are about this place of the recipe."""
    try:
        yield
    except WorldwrightError as error:
        raise WorldwrightError(error.what, where=f"{place}: {error.where}" if error.where else place, fix=error.fix) from error


def _known(what: str, name: str, known: list[str], place: str) -> None:
    if name not in known:
        raise WorldwrightError(f"no {what} {name!r}", where=place, fix=f"choose one of {', '.join(known)}")


def check_recipe(recipe: Recipe, folder: Path) -> None:
    """Engine, renderer, rates, policies with their parameters, cameras and sizes. Raises WorldwrightError with the place. ``folder`` is
    the recipe's: its camera files and takes lie relative to it."""
    place = f"recipe {recipe.name}"
    _known("engine", recipe.engine, engine_names(), f"{place}: engine")
    for k, name in enumerate(recipe.renderers):
        _known("renderer", name, renderer_names(), f"{place}: renderers[{k}]")
    with naming(place):
        check_rates(recipe.tick_rate, recipe.frame_rate, recipe.sample_rate)
    for k, policy in enumerate(recipe.policies):
        with naming(f"{place}: policies[{k}]"):
            player = make_policy(policy.policy, policy_params(policy, folder))
            least = max(getattr(player, "least_seconds", 0.0), 1 / recipe.frame_rate)
            if policy.seconds < least:
                raise WorldwrightError(f"{policy.seconds:g} s are too short", where="seconds", fix=f"play {least:.3g} s or more")
    for k, camera in enumerate(recipe.cameras):
        with naming(f"{place}: cameras[{k}]"):
            # Engines that others bring may record other rigs: those are known when the take is there.
            habits = habits_of(recipe.engine)
            free = free_camera(camera_source(camera, folder), recipe.tick_rate) is not None
            if habits is not None and camera not in habits.rigs and not free:
                raise no_camera(camera, habits.rigs)
    for k, preset in enumerate(recipe.presets):
        with naming(f"{place}: presets[{k}]"):
            parse_preset(preset.size)
            for j, name in enumerate(preset.renderers or ()):
                _known("renderer", name, renderer_names(), f"renderers[{j}]")
            if preset.fps is not None:
                ticks_of("fps", preset.fps, recipe.tick_rate)
