"""A model that cannot be judged is told in one line."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the extra train is not installed")

from worldwright.errors import WorldwrightError
from worldwright.model.config import from_document, preset, to_document


def test_a_codec_of_another_version_ends_in_a_traceback() -> None:
    document = to_document(preset("tiny"))
    assert from_document(document, "model.json") == preset("tiny")
    document["codec"]["width"] = [16, 40, 80]
    with pytest.raises(WorldwrightError, match=r"width is .* train again"):
        from_document(document, "model.json")
