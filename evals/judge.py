"""A language model's opinion of what the agent said, from an OpenAI-compatible endpoint.

Content only: it sees no times, for models asked about timing answer that it is fine. Off by
default. Answers are kept on disk by what was asked, so that a run twice asks once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.conversation import InputError

RUBRIC = "duet-content-1"
KEY_VARIABLE = "OPENAI_API_KEY"
TIMEOUT_S = 60.0

_INSTRUCTION = (
    "Two people are on a call; below is everything that each of them said, without times. Grade what"
    " the AGENT said as an answer to the USER: 0 has nothing to do with it, 1 mostly unrelated, 2 on the"
    " topic and no answer, 3 a partial or muddled answer, 4 a good answer with small faults, 5 complete,"
    " correct and clear. Do not grade manners or timing. Reply with one JSON object and nothing else:"
    ' {"grade": NUMBER, "why": "one sentence"}'
)


@dataclass(frozen=True, slots=True)
class Judge:
    """url: up to and with the version, such as https://host/v1. cache: a folder."""

    url: str
    model: str
    cache: Path

    def score(self, user: str, agent: str) -> float:
        """0 to 5. Raises InputError where the endpoint gives none."""
        body = {
            "model": self.model,
            "temperature": 0,
            "messages": [
                {"role": "system", "content": _INSTRUCTION},
                {"role": "user", "content": f"USER:\n{user}\n\nAGENT:\n{agent}"},
            ],
        }
        asked = json.dumps(body, sort_keys=True)
        kept = self.cache / f"{hashlib.sha256(f'{RUBRIC}{asked}'.encode()).hexdigest()}.json"
        if kept.is_file():
            return float(json.loads(kept.read_text("utf-8"))["grade"])
        answer = self._ask(asked)
        grade = parse_grade(answer)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({"grade": grade, "answer": answer, "model": self.model, "rubric": RUBRIC}))
        return grade

    def _ask(self, body: str) -> str:
        request = urllib.request.Request(
            self.url.rstrip("/") + "/chat/completions",
            body.encode(),
            {
                "Content-Type": "application/json",
                "Authorization": f"Bearer {os.environ.get(KEY_VARIABLE, '')}",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:
                data: Any = json.load(reply)
            return str(data["choices"][0]["message"]["content"])
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise InputError(f"the judge at {self.url} gave no answer: {error}") from None


def parse_grade(answer: str) -> float:
    """Raises InputError where there is no grade from 0 to 5."""
    found = re.search(r"\{.*\}", answer, re.DOTALL)
    try:
        grade = float(json.loads(found[0])["grade"]) if found else -1.0
    except (ValueError, KeyError, TypeError):
        grade = -1.0
    if not 0 <= grade <= 5:
        raise InputError(f"the judge gave no grade from 0 to 5: {answer[:80]!r}")
    return grade
