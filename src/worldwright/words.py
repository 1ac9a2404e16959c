"""Words for people."""


def counted(count: int, thing: str) -> str:
    """``1 frame``, ``2 frames``; for words whose plural is made by an s."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
