"""Which clip of a rigged model is which of ours: by name, for the naming habits of the common packs and rigs.

Known to fit: KayKit (``Walking_A``, ``Running_Strafe_Left``), Mixamo (``mixamo.com|Walking``, ``Left Strafe Walking``), Quaternius
(``CharacterArmature|Run_Back``), Unreal's mannequin (``MM_Walk_Fwd``, ``MF_Run_Bwd``).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from worldwright.assets.model import CLIP_NAMES
from worldwright.errors import WorldwrightError

LOOPS = frozenset(CLIP_NAMES) - {"jump"}

_SPECIAL = r"attack|shoot|gun|aim|sword|punch|kick|death|die|hit|sit|lie|swim|climb|injur|carry|drunk|zombie|turn"
_BACK = r"back|bwd|_b$"
_SIDE = r"left|right|strafe|_l$|_r$|_bl$|_br$|_fl$|_fr$"


@dataclass(frozen=True)
class _Rule:
    """Patterns in the order of preference, and what must not be in the name."""

    patterns: tuple[str, ...]
    never: str


_RULES = {
    "idle": _Rule((r"^idle$", r"^(unarmed|standing|neutral|breathing)_idle$", r"^idle", r"idle$", r"^stand(ing)?$"), rf"{_SPECIAL}|crouch|jump|fall|1h|2h|hang|sneak"),
    "walk": _Rule((r"^walk(ing)?(_a|_f|_fwd|_forwards?|_01|_1)?$", r"walk(ing)?_?(fwd|forwards?)", r"^walk", r"walk"), rf"{_SPECIAL}|{_BACK}|{_SIDE}|crouch|sneak|jump"),
    "run": _Rule(
        (r"^(run|running)(_a|_f|_fwd|_forwards?|_01|_1)?$", r"(run|running|jog)_?(fwd|forwards?)", r"^(run|jog|sprint)", r"run|jog|sprint"),
        rf"{_SPECIAL}|{_BACK}|{_SIDE}|crouch|jump|slide|stop",
    ),
    "strafe_left": _Rule((r"strafe.*left|left.*strafe", r"(walk|jog|run|running)(ing)?_(left|l)$", r"left_side"), rf"{_SPECIAL}|crouch|jump"),
    "strafe_right": _Rule((r"strafe.*right|right.*strafe", r"(walk|jog|run|running)(ing)?_(right|r)$", r"right_side"), rf"{_SPECIAL}|crouch|jump"),
    "back": _Rule((r"walk.*(back|bwd)|back.*walk", r"(run|jog).*(back|bwd)|back.*run", r"^walk(ing)?_b$"), rf"{_SPECIAL}|crouch|jump|flip|left|right"),
    "jump": _Rule((r"jump.*(start|up|begin)", r"^jump(ing)?$", r"jump.*(full|short)", r"^jump"), rf"{_SPECIAL}|land|idle|loop|end|down|air|mid"),
    "fall": _Rule((r"^fall(ing)?(_idle|_loop)?$", r"jump.*(idle|loop|air|mid)", r"fall", r"in_?air"), rf"{_SPECIAL}|land|flat|back|to_"),
    "push": _Rule((r"^push(ing)?$", r"push"), r"stop|start|attack|up|button"),
    "crouch": _Rule((r"^crouch(ed|ing)?$", r"crouch.*idle|idle.*crouch", r"sneak.*idle|idle.*sneak"), rf"{_SPECIAL}|walk|run|fwd|forward"),
    "crouch_walk": _Rule((r"crouch.*(walk|fwd|forward|move|run)|walk.*crouch", r"sneak"), rf"{_SPECIAL}|idle|{_BACK}|{_SIDE}"),
}  # fmt: skip

LOW = "low"
"""Among the choices: the clip from which a pose near the ground is taken, for a model that lacks a crouch."""
_LANDING = _Rule(
    (r"jump.*land|^land(ing)?", r"jump.*(start|up|begin)", r"^jump(ing)?(_full.*)?$"), rf"{_SPECIAL}|run|roll|idle|loop"
)

_STAND_INS = {
    "idle": ("crouch", "walk"),
    "walk": ("run", "crouch_walk", "strafe_left"),
    "run": ("walk",),
    "strafe_left": ("walk", "run"),
    "strafe_right": ("walk", "run"),
    "back": ("walk", "run"),
    "jump": ("fall", "idle"),
    "fall": ("jump", "idle"),
    "push": ("walk",),
    "crouch": ("idle",),
    "crouch_walk": ("walk",),
}


@dataclass(frozen=True)
class Choice:
    """The model's clip ``name`` for one of ours (None: it has none at all, its rest pose serves). ``stand_in``: it was made for
    something else, for our clip ``of``."""

    name: str | None
    of: str
    stand_in: bool

    def source(self) -> str:
        """For ``Model.clip_sources``."""
        if self.name is None:
            return "rest pose (stand-in)"
        return f"{self.name} (stand-in)" if self.stand_in else self.name


def plain_name(name: str) -> str:
    """A clip's name without its armature, in lower case, words joined by ``_``: ``Armature|mm_Walk-Fwd`` is ``walk_fwd``."""
    name = name.rsplit("|", 1)[-1]
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    name = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return re.sub(r"^(mm|mf|anim|character|human|m|f)_", "", name)


def choose_clips(names: Sequence[str], given: Mapping[str, str], where: str) -> dict[str, Choice]:
    """For every name of CLIP_NAMES, the model's clip.

    Args:
        names: the model's clips.
        given: ours to the model's, as the user wishes; wins over the rules.
        where: for errors.

    Raises:
        WorldwrightError: ``given`` names a clip that is not one of ours, or not in the model.
    """
    for ours, theirs in given.items():
        if ours not in CLIP_NAMES:
            raise WorldwrightError(f"clips: {ours!r} is no clip of ours", where=where, fix=f"use {', '.join(CLIP_NAMES)}")
        if theirs not in names:
            near = difflib.get_close_matches(theirs, names, 3, 0.4)
            raise WorldwrightError(
                f"clips.{ours}: no clip {theirs!r} in the model",
                where=where,
                fix=f"did you mean {', '.join(near)}?" if near else "see its clips",
            )
    found = {ours: given.get(ours) or _by_name(names, _RULES[ours]) for ours in CLIP_NAMES}
    return {ours: _choice(ours, found) for ours in CLIP_NAMES}


def choose_low_pose(names: Sequence[str], chosen: Mapping[str, Choice]) -> Choice | None:
    """Where a crouched pose can be found when the model has no clip of the crouch, or of the walk in it: its own clip of the other of
    the two, else a landing or the push-off of a jump. None when neither is needed, or nothing fits."""
    still, walk = chosen["crouch"], chosen["crouch_walk"]
    if not (still.stand_in or walk.stand_in):
        return None
    for own in (still, walk):
        if not own.stand_in:
            return own
    landing = _by_name(names, _LANDING)
    return Choice(landing, LOW, stand_in=True) if landing is not None else None


def _by_name(names: Sequence[str], rule: _Rule) -> str | None:
    plain = [(plain_name(name), name) for name in names]
    for pattern in rule.patterns:
        fits = [(len(text), text, name) for text, name in plain if re.search(pattern, text) and not re.search(rule.never, text)]
        if fits:
            return min(fits)[2]
    return None


def _choice(ours: str, found: Mapping[str, str | None]) -> Choice:
    if found[ours] is not None:
        return Choice(found[ours], ours, stand_in=False)
    seen, queue = {ours}, list(_STAND_INS[ours])
    while queue:
        other = queue.pop(0)
        if found[other] is not None:
            return Choice(found[other], other, stand_in=True)
        seen.add(other)
        queue += [next_one for next_one in _STAND_INS[other] if next_one not in seen and next_one not in queue]
    return Choice(None, ours, stand_in=True)
