"""Known-bad shots: every way in which a shot can be wrong that verification claims to find, made on purpose.

A fault edits a copy of a good shot and says what it did, or None where it would make no difference there (two frames that are
equal anyway). After an edit every hash is computed again, but for damage (truncation, flipped bits, missing files), which is what hashes
are for. The tests and ``benchmarks/faults.py`` use them. Each module has the faults of one subject and enters them in the registry.
"""

from worldwright.verify.faults import cameras, counts, damage, description, frames, looks, meanings, rows, take
from worldwright.verify.faults.registry import FAULTS, Fault, inject

__all__ = ["FAULTS", "Fault", "cameras", "counts", "damage", "description", "frames", "inject", "looks", "meanings", "rows", "take"]
