"""``replay``: the inputs of a take, tick by tick. In the same world they give the same bytes; in another one, the same hands."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from worldwright.controls import Control
from worldwright.engine.protocol import State
from worldwright.errors import WorldwrightError
from worldwright.record.inputs import FrameInput
from worldwright.record.policies.protocol import PolicyContext
from worldwright.take.reader import Take


class Params(BaseModel):
    """``take``: the take to play. ``partial``: play what is whole of one that is damaged."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    take: Path
    partial: bool = False


class Replay:
    """Plays a take's inputs again. After its end nothing is pressed."""

    name = "replay"
    Params = Params

    def __init__(self, **params: object) -> None:
        chosen = Params.model_validate(params)
        with Take.open(chosen.take, partial=chosen.partial) as take:
            self._where = str(chosen.take)
            self._hash, self.engine_seed, self._tick_rate = take.state_hash, take.header.seed, take.header.tick_rate
            self._source = {"policy": take.header.policy, "params": dict(take.header.policy_params)}
            self._controls = list(take.controls())
            self._intents, self._intent_ticks = take.intents, take.header.frame_ticks
        self._frame_ticks = 1

    @property
    def params(self) -> Mapping[str, object]:
        """By its state hash, not its path: the recording must not depend on where a file lies."""
        return {"state_hash": self._hash, "source": self._source}

    def seconds(self, tick_rate: int) -> float:
        """How long it can play. Raises WorldwrightError at another tick rate than the take's: its inputs would mean something else."""
        if tick_rate != self._tick_rate:
            raise WorldwrightError(
                f"the take has {self._tick_rate} ticks a second, not {tick_rate}",
                where=self._where,
                fix=f"use --tick-rate {self._tick_rate}",
            )
        return len(self._controls) / tick_rate

    def start(self, context: PolicyContext) -> None:
        """Fit the inputs into frames."""
        self._frame_ticks = context.frame_ticks

    def act(self, frame: int, state: State) -> FrameInput:
        """The take's inputs of this frame's ticks."""
        first = frame * self._frame_ticks
        controls = list(islice(self._controls, first, first + self._frame_ticks))
        controls += [Control()] * (self._frame_ticks - len(controls))
        said = first // self._intent_ticks
        return FrameInput(intent=self._intents[said] if said < len(self._intents) else "", controls=controls)

    def report(self) -> Mapping[str, object]:
        """Nothing of its own."""
        return {}
