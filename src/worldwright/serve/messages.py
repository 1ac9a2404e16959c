"""What a browser may say. Everything is checked: it may be anybody's."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from worldwright.controls import KEYS
from worldwright.errors import WorldwrightError

MOST_BYTES = 2048
"""Of a message."""
MOST_A_SECOND, BURST = 150, 300
"""Messages a second in the long run, and at once: input at each of 60 pictures, and an answer to each of 2 x 24."""
MOST_COUNTS = 4000
"""Mouse counts of a message."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Open(_Strict):
    """Play this scene, by its number in ``hello``."""

    type: Literal["open"]
    scene: Annotated[int, Field(ge=0, le=999)]
    memory: Literal["capture", "imagination"] = "capture"
    camera: Literal["first", "third"] = "first"
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0


class Input(_Strict):
    """The keys held now (a mask), those that were pressed since the last message (``tapped``), and how far the mouse has gone since."""

    type: Literal["input"]
    seq: Annotated[int, Field(ge=0, le=2**53)]
    keys: Annotated[int, Field(ge=0, lt=1 << len(KEYS))]
    tapped: Annotated[int, Field(ge=0, lt=1 << len(KEYS))] = 0
    dx: Annotated[int, Field(ge=-MOST_COUNTS, le=MOST_COUNTS)] = 0
    dy: Annotated[int, Field(ge=-MOST_COUNTS, le=MOST_COUNTS)] = 0


class Seen(_Strict):
    """A picture is on the screen."""

    type: Literal["seen"]
    picture: Annotated[int, Field(ge=0, le=2**53)]


class Reset(_Strict):
    """Begin anew."""

    type: Literal["reset"]
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0


class Record(_Strict):
    """Begin anew and record, or end the recording."""

    type: Literal["record"]
    on: bool


class Pause(_Strict):
    """Stop the world while nobody looks, or go on."""

    type: Literal["pause"]
    on: bool


Message = Open | Input | Seen | Reset | Record | Pause
_MESSAGE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


def read_message(text: str) -> Message:
    """A message. Raises WorldwrightError for what is none."""
    if len(text.encode()) > MOST_BYTES:
        raise WorldwrightError(f"a message of over {MOST_BYTES} bytes")
    try:
        return _MESSAGE.validate_json(text)
    except (ValidationError, UnicodeError, RecursionError) as error:
        raise WorldwrightError("a message that is none of ours") from error


class Meter:
    """A bucket that fills with MOST_A_SECOND and holds BURST. ``take`` says whether one more message is welcome."""

    def __init__(self, now: float) -> None:
        self._left, self._last = float(BURST), now

    def take(self, now: float) -> bool:
        """Take one."""
        self._left = min(float(BURST), self._left + (now - self._last) * MOST_A_SECOND)
        self._last = now
        self._left -= 1.0
        return self._left >= 0.0
