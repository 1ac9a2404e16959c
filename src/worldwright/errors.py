"""The one error that a user sees: what is wrong, where, and what to do about it, on one line."""

from __future__ import annotations


class WorldwrightError(Exception):
    """Bad input or a broken environment, told in one line.

    Args:
        what: what is wrong, quoting the value.
        where: the file and the field, or the frame, such as ``w.yaml: entities[3].mass``.
        fix: what the user can do.
    """

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what, self.where, self.fix = what, where, fix
        super().__init__(self.line())

    def line(self) -> str:
        """The whole message without line breaks."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        text = f"{head}; {self.fix}" if self.fix else head
        return " ".join(text.split())
