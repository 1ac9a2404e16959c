"""The process in which an adapter is tried: its crash, its hang and its memory are its own.

``python -m worldwright.conformance.child REQUEST`` (JSON) reads names of cases from standard input, one a line, and answers each with a check
(JSON). ``... child REQUEST digest`` prints the digest of one run, for the case that compares processes.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict

from worldwright.conformance.case import run_case
from worldwright.conformance.engine_cases import SOME_TICKS, run_digest
from worldwright.conformance.subjects import Request, cases_of, engine_subject, named, renderer_subject
from worldwright.errors import WorldwrightError
from worldwright.orphans import die_with_parent


def main(argv: list[str]) -> int:
    """See the module."""
    die_with_parent()
    request = Request(**json.loads(argv[0]))
    # Whatever an adapter prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    if argv[1:] == ["digest"]:
        subject = engine_subject(request)
        with subject.play() as engine:
            answers.write(run_digest(engine, subject.controls(SOME_TICKS)) + "\n")
        return 0
    try:
        request, version = named(request)
        answers.write(json.dumps({"named": [request.bound, version]}) + "\n")
        command = ("-m", "worldwright.conformance.child", json.dumps(request.as_dict()), "digest")
        tried = engine_subject(request, command) if request.kind == "engine" else renderer_subject(request)
    except WorldwrightError as error:
        answers.write(json.dumps({"error": {"what": error.what, "where": error.where, "fix": error.fix}}) + "\n")
        return 2
    except Exception as error:  # an adapter may raise anything
        text = f"{request.kind} {request.name!r} does not load: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        answers.write(json.dumps({"error": {"what": text, "where": "", "fix": ""}}) + "\n")
        return 2
    cases = {case.name: case for case in cases_of(request)}
    for line in sys.stdin:
        answers.write(json.dumps({"check": asdict(run_case(cases[line.strip()], tried))}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
