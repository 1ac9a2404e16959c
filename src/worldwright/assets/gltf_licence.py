"""Under which licence a file of a pack is: as the file says, else as a licence file near it says, else unknown."""

from __future__ import annotations

import re
from pathlib import Path

MAX_LICENCE_BYTES = 1 << 20
KNOWN = (
    (r"\bCC0\b|Creative Commons Zero|publicdomain/zero", "CC0-1.0"),
    (r"CC[- ]BY[- ]NC", "CC-BY-NC"),
    (r"CC[- ]BY[- ]SA|licenses/by-sa", "CC-BY-SA"),
    (r"CC[- ]BY\b|licenses/by/", "CC-BY"),
    (r"Apache License", "Apache-2.0"),
    (r"\bMIT License\b|Permission is hereby granted, free of charge", "MIT"),
    (r"Redistribution and use in source and binary forms", "BSD"),
)


def licence_of(copyright_text: str, path: Path, root: Path) -> str:
    """The licence in one line: ``asset.copyright`` of the file, else what the nearest ``LICENSE*`` from the file's folder up to ``root``
    says (an SPDX-like name where it is known, else its first line), else ``unknown``."""
    text = " ".join(copyright_text.split())
    if text:
        return text[:200]
    folder, top = path.resolve().parent, root.resolve()
    while folder == top or folder.is_relative_to(top):
        for candidate in sorted(folder.iterdir()):
            if re.match(r"licen[sc]e", candidate.name, re.IGNORECASE) and candidate.is_file():
                return _summary(candidate)
        folder = folder.parent
    return "unknown"


def _summary(file: Path) -> str:
    with file.open("rb") as stream:
        text = stream.read(MAX_LICENCE_BYTES).decode("utf-8", "replace")
    for pattern, name in KNOWN:
        if re.search(pattern, text, re.IGNORECASE):
            return name
    lines = (" ".join(line.split()) for line in text.splitlines())
    return next((line[:100] for line in lines if line), "unknown")
