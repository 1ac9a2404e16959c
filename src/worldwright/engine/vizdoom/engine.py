"""The engine ``vizdoom``: a map of Doom, one tick a tic. See ``engine.protocol.Engine``.

What is recorded is the game's own state; rays and sweeps meet the world's geometry, its doors and lifts where they are. The demo file that
the game writes goes into the take: the renderer ``vizdoom`` plays it again. When the player dies or leaves the map the game stands still:
so does the state, flagged HELD, after an event ``death`` or ``exit``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from panda3d import bullet

from worldwright.assets.scene import build_scene
from worldwright.controls import Control, Flag
from worldwright.engine.physics import Physics
from worldwright.engine.protocol import F64, CharacterState, Event, RayHits, State, SweepHit
from worldwright.engine.puppets import Puppet
from worldwright.engine.shapes import capsule_shape
from worldwright.engine.vizdoom.game import ENGINE, VERSION, Game, level_of
from worldwright.engine.vizdoom.player import LOOK_DOWN, LOOK_UP, STEP, VARIABLES, Look, action, hindrance
from worldwright.engine.vizdoom.things import PLAYER, TELEPORT, Things, float32
from worldwright.engine.vizdoom.views import CAMERA, camera, pitch_of, place, speed, yaw_of
from worldwright.errors import WorldwrightError
from worldwright.world.generators import generate
from worldwright.world.generators.doom import TICS, UP
from worldwright.world.spec import World

DEMO = "demo.lmp"
"""The attachment that the renderer plays again."""
SMALLEST = (160, 120)
"""What is drawn while recording, which nobody looks at: the game has no smaller picture."""
SETTLE_SECONDS = 0.6
"""A player slides on for so long after his keys change: friction takes a tenth of his speed a tic."""
MOVED = 0.01
"""Metres a tick by which a door or lift moves, or does not."""

_COUNTED = ("kill", "item", "secret", "hurt", "hit")
_SHOWN = ("health", "armour", "weapon", "ammo")


class VizdoomEngine:
    """Plays a level of Doom; see the module and ``engine.protocol.Engine``."""

    name = ENGINE
    version = VERSION

    def __init__(self) -> None:
        self.tick_rate = TICS
        self.body_ids: tuple[int, ...] = ()
        self.character_ids: tuple[int, ...] = ()
        self._world: World | None = None
        self._game: Game | None = None
        self._physics: Physics | None = None

    def sample_world(self) -> World | None:
        """The first map of Freedoom: it runs no other world than Doom's."""
        return generate("doom", 0, {})

    def load(self, world: World, packs: Mapping[str, Path], *, tick_rate: int = TICS, seed: int = 0) -> None:
        """Start the game at the world's level. Raises WorldwrightError for a world that is none, or another tick rate than the game's."""
        if tick_rate != TICS:
            raise WorldwrightError(
                f"tick rate {tick_rate}: Doom has {TICS} tics a second",
                where="engine vizdoom",
                fix=f"say {TICS}, and 35, 7 or 5 frames a second",
            )
        self.close()
        level_of(world.level, world.name)
        self._world, self._packs, self._seed = world, dict(packs), seed
        self._geometry = build_scene(world, packs, images=False)
        self.body_ids = tuple(world.entity_id(k) for k, entity in enumerate(world.entities) if entity.body != "static")
        self.character_ids = (world.character_id(0),)
        self._physics = Physics(world, self._geometry, packs, TICS)
        self.reset()

    def reset(self) -> None:
        """Back to tick 0, exactly: the game is started anew."""
        world = self._loaded()
        if self._game is not None:
            self._game.close()
        self._game = None
        self._game = game = Game(level_of(world.level, world.name), self._seed, *SMALLEST, pictures=False)
        game.start(DEMO)
        self._tick, self._flags, self._over = 0, 0, False
        self._events: list[Event] = []
        entities = [world.entities[id - 1] for id in self.body_ids]
        self._positions = np.array([e.position for e in entities])
        self._rotations = np.array([e.rotation for e in entities])
        self._linear = np.zeros_like(self._positions)
        self._still = np.zeros_like(self._positions)
        self._sectors = [
            (row, int(e.name.split(" ")[1]), e.label) for row, e in enumerate(entities) if e.label in ("door", "ceiling", "lift")
        ]
        self._lifts = {sector: self.body_ids[row] for row, sector, label in self._sectors if label == "lift"}
        self._moving: set[int] = set()
        self._puppet = Puppet(self._geometry.characters[self.character_ids[0]])
        self._things = Things(world, self.body_ids, self._positions, self._rotations, self._linear)
        state = game.state()
        if state is None:
            raise WorldwrightError("the game is over before it began", where="engine vizdoom", fix="use another map")
        objects = list(state.objects)  # each time that ViZDoom is asked it makes all of them anew
        missing = self._things.begin(objects)
        self._events += [Event(0, "gone", id) for id in missing]
        self._heights(state)
        self._ground_at(objects)
        self._variables = game.variables(VARIABLES)
        self._camera = camera(game.variables(CAMERA))
        self._falling = 0.0
        self._look = Look(0.0, 0.0)
        self._look.follow(self._variables["angle"], self._variables["pitch"])
        self._events += self._shown(dict.fromkeys(VARIABLES, float("nan")), self._variables, _SHOWN)

    # --- a tick -------------------------------------------------------------------------------------------------------------

    def tick(self, control: Control) -> None:
        """A tic with this input."""
        game = self._running()
        self._tick += 1
        before = self._variables
        if self._over:
            return
        game.act(action(control, *self._look.turn(control, before["angle"], before["pitch"])))
        state = game.state()
        if state is None:
            self._over, self._flags = True, int(Flag.HELD)
            self._linear[:] = 0
            self._variables = before | {"u": 0.0, "v": 0.0, "w": 0.0}
            self._tell("death" if game.dead else "exit", self.character_ids[0], 0.0)
            return
        after = self._variables = game.variables(VARIABLES)
        self._camera = camera(game.variables(CAMERA))
        objects = list(state.objects)
        self._things.update(objects, self._tell)
        self._heights(state)
        self._ground_at(objects)
        self._flags = hindrance(before, after, control)
        if not self._look.follow(after["angle"], after["pitch"]):
            self._flags |= Flag.HELD
        self._watch(before, after)
        self._animate()

    def _tell(self, kind: str, entity: int, value: float) -> None:
        self._events.append(Event(self._tick, kind, entity, 0, value))

    def _watch(self, before: Mapping[str, float], after: Mapping[str, float]) -> None:
        """Events of the player: what he counts and carries, jumps, falls, and is moved elsewhere."""
        me = self.character_ids[0]
        self._events += self._shown(before, after, _SHOWN)
        for name in _COUNTED:
            if (more := after[name] - before[name]) > 0:
                self._tell(name, me, more)
        dx, dy = after["x"] - before["x"], after["y"] - before["y"]
        if max(abs(dx), abs(dy)) > TELEPORT:
            self._tell("teleport", me, 0.0)
        elif before["on_ground"] and not after["on_ground"] and after["w"] > 0:
            self._tell("jump", me, 0.0)
        elif after["on_ground"] and not before["on_ground"]:
            self._tell("land", me, -self._falling * UP * TICS)
        if after["w"] < 0:
            self._falling = after["w"]

    def _shown(self, before: Mapping[str, float], after: Mapping[str, float], names: Sequence[str]) -> list[Event]:
        """An event for each of these numbers that changed, with its new value."""
        me = self.character_ids[0]
        return [Event(self._tick, name, me, 0, after[name]) for name in names if after[name] != before[name]]

    def _heights(self, state: Any) -> None:
        """Where doors and lifts are; the first tick of a motion is told."""
        sectors = state.sectors
        for row, sector, label in self._sectors:
            height = (sectors[sector].floor_height if label == "lift" else sectors[sector].ceiling_height) * UP
            rise = height - self._positions[row, 2]
            self._positions[row, 2] = height
            self._linear[row, 2] = rise * TICS if self._tick else 0.0
            if abs(rise) < MOVED:
                self._moving.discard(row)
            elif self._tick and row not in self._moving:
                self._moving.add(row)
                self._tell(label, self.body_ids[row], height)

    def _ground_at(self, objects: Sequence[Any]) -> None:
        sector = next((o.sector_id for o in objects if o.name == PLAYER), -1)
        self._ground = self._lifts.get(sector, 1)

    def _animate(self) -> None:
        """A figure for whoever looks from outside: the game shows none of the player's."""
        now = self._variables
        u, v, _ = speed(now["u"], now["v"], now["w"])
        pace = float(np.hypot(u, v))
        character = self._loaded().characters[0]
        if not now["on_ground"]:
            clip = "jump" if now["w"] > 0 else "fall"
        elif self._flags & Flag.CROUCHED:
            clip = "crouch_walk" if pace > 0.3 else "crouch"
        else:
            clip = "idle" if pace < 0.3 else "walk" if pace < character.walk_speed else "run"
        own = self._puppet.clips[clip].speed
        self._puppet.update(1 / TICS, clip, min(pace / own, 2.0) if own > 1e-3 and pace > 0 else 1.0)

    # --- reading ------------------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """The state after the last tick. No contacts: the game does not tell them."""
        self._running()
        now = self._variables
        pose = self._puppet.pose()
        clip, time = pose.now
        player = CharacterState(
            id=self.character_ids[0],
            position=place(now["x"], now["y"], now["z"]),
            yaw=yaw_of(now["angle"]),
            pitch=pitch_of(now["pitch"]),
            velocity=speed(now["u"], now["v"], now["w"]),
            flags=self._flags,
            clip=clip,
            clip_time=time,
            ground=0 if self._flags & Flag.AIRBORNE else self._ground,
            bones=pose.bones,
        )
        events, self._events = tuple(self._events), []
        return State(
            tick=self._tick,
            positions=float32(self._positions),
            rotations=float32(self._rotations),
            linear=float32(self._linear),
            angular=float32(self._still),
            characters=(player,),
            contacts=np.zeros((0, 2), dtype=np.int32),
            events=events,
            cameras={"first": self._camera},
        )

    def cast_rays(self, origins: F64, directions: F64, max_distance: float, *, ignore: Sequence[int] = ()) -> RayHits:
        """First hits against the level, its doors and lifts where they now are; things are passed through."""
        return self._posed().cast_rays(origins, directions, max_distance, ignore)

    def sweep_sphere(self, radius: float, start: F64, end: F64, *, ignore: Sequence[int] = ()) -> SweepHit:
        """Move a sphere from start to end; see ``cast_rays``."""
        return self._posed().first_touch(bullet.BulletSphereShape(radius), start, end, ignore)

    def sweep_capsule(self, radius: float, height: float, start: F64, end: F64, *, ignore: Sequence[int] = ()) -> SweepHit:
        """Move an upright capsule (whole height, its centre given) from start to end; see ``cast_rays``."""
        return self._posed().first_touch(capsule_shape(radius, height), start, end, ignore)

    def _posed(self) -> Physics:
        physics = self._physics
        if physics is None:
            raise _not_loaded()
        rows = [row for row, _, _ in self._sectors]
        stands = [physics.bodies[self.body_ids[row]].path for row in rows]
        if any(path.get_z() != np.float32(self._positions[row, 2]) for path, row in zip(stands, rows, strict=True)):
            for path, row in zip(stands, rows, strict=True):
                path.set_z(float(self._positions[row, 2]))
            physics.step()  # queries look where bodies were in the last step
        return physics

    def attachments(self) -> Mapping[str, bytes]:
        """The demo file. The game cannot go on after this."""
        return {DEMO: self._running().finish(DEMO)}

    def snapshot(self) -> dict[str, Any]:
        """Versions and settings that reproduce this run, and what its looks and ways are exact to."""
        level = level_of(self._loaded().level, self._loaded().name)
        return {
            "engine": self.name,
            "version": self.version,
            "level": f"{level.file} {level.name}",
            "level_hash": level.hash,
            **{f"option_{name}": str(value) for name, value in sorted(level.options.items())},
            "seed": str(self._seed),
            "look_step_rad": repr(STEP),
            "look_up_rad": repr(LOOK_UP),
            "look_down_rad": repr(LOOK_DOWN),
            "settle_seconds": repr(SETTLE_SECONDS),
        }

    def close(self) -> None:
        """End the game; ``load`` may follow."""
        if self._game is not None:
            self._game.close()
        if self._physics is not None:
            self._physics.close()
        self._game, self._physics, self._world = None, None, None
        self.body_ids = self.character_ids = ()

    def _loaded(self) -> World:
        if self._world is None:
            raise _not_loaded()
        return self._world

    def _running(self) -> Game:
        if self._game is None:
            raise _not_loaded()
        return self._game


def _not_loaded() -> WorldwrightError:
    return WorldwrightError("no world is loaded", where="engine vizdoom", fix="call load first")
