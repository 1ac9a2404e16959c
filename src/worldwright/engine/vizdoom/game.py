"""ViZDoom's process: started for a level, ticked, watched by a clock, and cleaned up after. Nothing of it lands outside a temporary folder.

What had to be found out about ViZDoom 1.3.2:

* A player's ``Reactiontime`` is 8: for so many tics after the start neither keys nor mouse are heard. WARM_UP tics pass before tick 0.
* Keys that are held when an episode ends are held in the next one's first tic: a run that is to be exact starts in a new process.
* ``set_seed`` is taken up by the next ``new_episode`` alone, and the demo is written whole when the episode after it begins.
* It makes a folder ``_vizdoom`` where it is started: a script changes there first.
* Turning goes by 65,536 steps a circle, rounded down: TURN_SLACK of a step keeps a whole number of steps whole.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import vizdoom

from worldwright.errors import WorldwrightError
from worldwright.ids import hash_file
from worldwright.world.generators.doom import vizdoom_folder
from worldwright.world.spec import LevelRef

ENGINE = "vizdoom"
VERSION = f"1 (vizdoom {vizdoom.__version__})"
"""Counts changes after which the same inputs give other bytes; a take says by which it was made."""
WARM_UP = 10
STEPS = 65_536
TURN_SLACK = 0.25
PATIENCE, CLOSING = 30.0, 5.0
"""Seconds that the process may take for one answer, and to end."""
DEMO_BYTES = 64 << 20

_BUTTONS = (
    "MOVE_FORWARD", "MOVE_BACKWARD", "MOVE_LEFT", "MOVE_RIGHT", "SPEED", "JUMP", "CROUCH", "USE", "ATTACK",
    "TURN_LEFT_RIGHT_DELTA", "LOOK_UP_DOWN_DELTA",
)  # fmt: skip
_HIDDEN = ("hud", "weapon", "crosshair", "messages", "decals", "particles", "effects_sprites", "screen_flashes")
_REST = [0.0] * len(_BUTTONS)
_PREFIX = "worldwright-vizdoom-"
LONGEST_HOME = 48
"""Characters of the folder for temporary files."""


def level_of(level: LevelRef | None, name: str) -> LevelRef:
    """The level of a world that this engine plays. Raises WorldwrightError where it has none, or another engine's."""
    if level is None or level.engine != ENGINE:
        raise WorldwrightError(
            f"world {name!r} is no level of Doom", where="engine vizdoom", fix="make one: worldwright world new doom -p map=MAP01"
        )
    return level


class Game:
    """One process of ViZDoom at a level. Close it, also after an error.

    Args:
        level: what is played.
        seed: the game's only source of chance.
        width, height: of the picture, one of ``resolutions()``.
        pictures: rgb, depth and labels are wanted; without, the state of things and sectors.
        patience: seconds that it may take for one answer.

    Raises:
        WorldwrightError: another WAD than the recorded one, no such map, or ViZDoom does not start.
    """

    def __init__(self, level: LevelRef, seed: int, width: int, height: int, *, pictures: bool, patience: float = PATIENCE) -> None:
        self._where = f"engine vizdoom: {level.file} {level.name}"
        self.patience = patience
        # Doom has little room for the name of a demo: with a longer one it never comes back.
        home = tempfile.gettempdir()
        self._folder = tempfile.TemporaryDirectory(
            prefix=_PREFIX, dir=home if len(home) <= LONGEST_HOME else "/tmp", ignore_cleanup_errors=True
        )
        self.folder = Path(self._folder.name)
        self._caller = _Caller()
        self._seed = seed % (1 << 32)
        self._game = vizdoom.DoomGame()
        wad = _wad(level)
        try:
            self._set_up(level, wad, width, height, pictures)
            self._ask(self._game.init)
        except BaseException:
            self.close()
            raise

    def _set_up(self, level: LevelRef, wad: Path, width: int, height: int, pictures: bool) -> None:
        game, package = self._game, vizdoom_folder()
        script = self.folder / "start.sh"
        # Killed with the process that asks it, whatever ends that one: nobody else would end a game that waits.
        with_us = "setpriv --pdeathsig KILL" if shutil.which("setpriv") else ""
        script.write_text(
            f"#!/bin/sh\ncd {shlex.quote(str(self.folder))} || exit 1\n"
            f'exec {with_us} {shlex.quote(str(package / "vizdoom"))} "$@"\n'
        )
        script.chmod(0o700)
        game.set_vizdoom_path(str(script))
        game.set_doom_game_path(str(wad))
        game.set_doom_map(level.name.lower())
        game.set_doom_config_path(str(self.folder / "vizdoom.ini"))
        game.set_doom_skill(int(level.options.get("skill", 3)))
        if not level.options.get("monsters", True):
            game.add_game_args("-nomonsters")
        game.set_seed(self._seed)
        game.set_mode(vizdoom.Mode.PLAYER)
        game.set_window_visible(False)
        game.set_sound_enabled(False)
        game.set_console_enabled(False)
        game.set_episode_timeout(0)
        game.set_available_buttons([getattr(vizdoom.Button, name) for name in _BUTTONS])
        game.set_screen_resolution(resolutions()[width, height])
        game.set_screen_format(vizdoom.ScreenFormat.RGB24 if pictures else vizdoom.ScreenFormat.GRAY8)
        game.set_depth_buffer_enabled(pictures)
        game.set_labels_buffer_enabled(pictures)
        game.set_objects_info_enabled(not pictures)
        game.set_sectors_info_enabled(not pictures)
        for what in _HIDDEN:
            getattr(game, f"set_render_{what}")(False)

    # --- running ------------------------------------------------------------------------------------------------------------

    def start(self, demo: str) -> None:
        """Begin, and write what is played to the file ``demo`` of the temporary folder; WARM_UP tics pass."""

        def begin() -> None:
            self._game.set_seed(self._seed)
            self._game.new_episode(str(self.folder / demo))
            for _ in range(WARM_UP):
                self._game.make_action(_REST)

        self._ask(begin)

    def replay(self, demo: bytes) -> None:
        """Begin to play a demo file again; WARM_UP tics pass. Raises WorldwrightError for what is no demo of this level."""
        check_demo(demo, self._where)
        path = self.folder / "replay.lmp"
        path.write_bytes(demo)

        def begin() -> None:
            self._game.replay_episode(str(path))
            for _ in range(WARM_UP):
                self._game.advance_action(1, True)

        with _deadline(
            self.patience,
            f"error: {self._where}: ViZDoom does not come back from the demo file: it is damaged; record the take again",
        ):
            self._ask(begin)
        if self._game.is_episode_finished() or not self._game.is_replaying_episode():
            raise WorldwrightError("the demo is not played", where=self._where, fix="record the take again")

    def act(self, action: list[float]) -> None:
        """A tic with these buttons, in the order of ``_BUTTONS``; nothing once the game is over."""
        if not self.over:
            self._ask(lambda: self._game.make_action(action))

    def advance(self, tics: int) -> None:
        """So many tics of a demo, of which the last one's picture is drawn; those after its end change nothing."""
        if not self.over and tics > 0:
            self._ask(lambda: self._game.advance_action(tics, True))

    def advance_meanwhile(self, tics: int) -> bool:
        """Begin ``advance`` and come back at once; ``wait`` before anything else is asked. False: there is nothing to wait for."""
        if self.over or tics <= 0:
            return False
        self._caller.begin(lambda: self._game.advance_action(tics, True))
        return True

    def wait(self) -> None:
        """For what was begun."""
        self._told(self._caller.wait)

    @property
    def over(self) -> bool:
        """Whether the player is dead or the level is left: then the game stands still."""
        return bool(self._game.is_episode_finished())

    @property
    def dead(self) -> bool:
        """Whether the player is dead."""
        return bool(self._game.is_player_dead())

    def state(self) -> Any:
        """ViZDoom's own state after the last tic; None once the game is over."""
        return self._game.get_state()

    def variables(self, names: Mapping[str, Any]) -> dict[str, float]:
        """Game variables by our names."""
        get = self._game.get_game_variable
        return {name: get(variable) for name, variable in names.items()}

    def finish(self, demo: str) -> bytes:
        """End the run; the demo file that was written since ``start``. The game cannot go on after this."""
        self._ask(self._game.new_episode)
        path = self.folder / demo
        if path.stat().st_size > DEMO_BYTES:
            raise WorldwrightError(f"a demo of more than {DEMO_BYTES >> 20} MB", where=self._where, fix="record less at once")
        return path.read_bytes()

    def _ask(self, question: Callable[[], object]) -> None:
        """What the process is asked here it must answer in time; what goes wrong is told in one line."""
        self._told(lambda patience: self._caller.ask(question, patience))

    def _told(self, ask: Callable[[float], object]) -> None:
        try:
            ask(self.patience)
        except TimeoutError:
            self._end_process()
            raise WorldwrightError(
                f"ViZDoom did not answer for {self.patience:g} s and was ended",
                where=self._where,
                fix="try again, or a shorter take",
            ) from None
        except Exception as error:
            raise WorldwrightError(f"ViZDoom gave up: {str(error).strip() or type(error).__name__}", where=self._where) from error

    def _end_process(self) -> None:
        for pid in own_processes(str(self.folder).encode()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and remove its files."""
        with contextlib.suppress(Exception):  # it may be gone already: there is nothing left to be told
            self._caller.settle(CLOSING)
            self._caller.ask(self._game.close, CLOSING)
        if self._caller.lost:
            self._end_process()
            # Its destructor would wait for the process for ever: it is never run.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._game))
        self._caller.stop()
        self._folder.cleanup()


@contextlib.contextmanager
def _deadline(seconds: float, line: str) -> Iterator[None]:
    """End this whole process with a line when what is within takes longer. ViZDoom reads a demo with Python's lock held: where it never comes
    back, no thread of ours can do that."""
    code = "import os, sys, time; time.sleep(float(sys.argv[1])); os.write(2, sys.argv[2].encode() + b'\\n'); os.kill(int(sys.argv[3]), 9)"
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", code, str(seconds), line, str(os.getpid())]) as watcher:
        try:
            yield
        finally:
            watcher.kill()


class _Caller:
    """A thread that asks ViZDoom, so that whoever waits for the answer can stop waiting: a call into a game whose process hangs does not
    come back, not even when the process is ended."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[object, BaseException | None]] = queue.SimpleQueue()
        self.lost = self._waiting = False
        self._thread = threading.Thread(target=self._run, name="vizdoom", daemon=True)
        self._thread.start()

    def ask(self, question: Callable[[], object], patience: float) -> object:
        """The answer, or what was raised. TimeoutError after ``patience`` seconds: nothing more can be asked."""
        self.begin(question)
        return self.wait(patience)

    def begin(self, question: Callable[[], object]) -> None:
        """Ask, and do not wait for the answer."""
        if self.lost:
            raise TimeoutError
        self._waiting = True
        self._asked.put(question)

    def wait(self, patience: float) -> object:
        """The answer to what was begun."""
        self._waiting = False
        try:
            answer, error = self._answers.get(timeout=patience)
        except queue.Empty:
            self.lost = True
            raise TimeoutError from None
        if error is not None:
            raise error
        return answer

    def settle(self, patience: float) -> None:
        """Take the answer that nobody has waited for."""
        if self._waiting:
            self.wait(patience)

    def stop(self) -> None:
        """End the thread, unless it is lost."""
        self._asked.put(None)
        if not self.lost:
            self._thread.join()

    def _run(self) -> None:
        while (question := self._asked.get()) is not None:
            try:
                self._answers.put((question(), None))
            except BaseException as error:  # told to whoever asked
                self._answers.put((None, error))


def own_processes(mark: bytes) -> list[int]:
    """This process's children whose command line has ``mark`` in it; none where there is no /proc."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and mark in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def resolutions() -> dict[tuple[int, int], Any]:
    """Width and height of the pictures that ViZDoom makes, and its names for them."""
    found = {}
    for name, value in vizdoom.ScreenResolution.__members__.items():
        width, _, height = name.removeprefix("RES_").partition("X")
        found[int(width), int(height)] = value
    return found


def check_demo(demo: bytes, where: str) -> None:
    """Refuse what is no ZDoom demo, before the game reads it: an IFF file FORM ZDEM whose length is right."""
    whole = len(demo) >= 12 and demo[:4] == b"FORM" and demo[8:12] == b"ZDEM"
    if not whole or len(demo) > DEMO_BYTES or not 0 <= len(demo) - 8 - int.from_bytes(demo[4:8], "big") <= 1:
        raise WorldwrightError(f"the demo file of {len(demo)} bytes is damaged", where=where, fix="record the take again")


def _wad(level: LevelRef) -> Path:
    path = vizdoom_folder() / level.file
    if not path.is_file():
        raise WorldwrightError(
            f"no WAD {level.file!r} in the package vizdoom", where="engine vizdoom", fix="use freedoom1 or freedoom2"
        )
    if hash_file(path) != level.hash:
        raise WorldwrightError(
            f"{level.file} is not the file that the world was read from", where="engine vizdoom", fix="make the world again"
        )
    return path
