"""A call that asks its user: the test answers, and the call is repeated until it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django_mcp.authoring.elicitation import Answer
from django_mcp.encoding import codec

#: What a client declares that puts every kind of question to its user.
ASKS: Final[Mapping[str, Any]] = {"elicitation": {"form": {}, "url": {}}}

Answers = Mapping[str, Any]


class Rounds:
    """The rounds of one call. `answers` maps the keys of questions to what the user says.

    A mapping is an accepted form, `"accept"`, `"decline"` or `"cancel"` the bare action; an `Answer` is taken
    as it is, and so is whatever answers a request that is not put to the user (sampling, roots).
    """

    def __init__(self, params: Mapping[str, Any], answers: Answers | None) -> None:
        self._params = params
        self._answers = answers
        self._given: set[str] = set()

    def after(self, result: Mapping[str, Any]) -> dict[str, Any] | None:
        """The params of the next round, or None where this was the last.

        Raises AssertionError for a question without an answer, and for one that is asked again.
        """
        if self._answers is None or result.get("resultType") != "input_required":
            return None
        responses = {key: self._response(key, asked) for key, asked in result["inputRequests"].items()}
        return {**self._params, "inputResponses": responses, "requestState": result["requestState"]}

    def _response(self, key: str, asked: Mapping[str, Any]) -> Any:
        assert self._answers is not None
        shown = codec.text(dict(asked))
        if key not in self._answers:
            raise AssertionError(f"No answer is given to {key!r}: {shown}")
        answer = self._answers[key]
        if key in self._given:
            raise AssertionError(f"The answer {answer!r} to {key!r} does not fit: {shown}")
        self._given.add(key)
        if asked["method"] != "elicitation/create":
            return answer
        if isinstance(answer, str):
            return {"action": answer}
        if isinstance(answer, Answer):
            content = {"content": dict(answer.content)} if answer.content else {}
            return {"action": answer.action, **content}
        return {"action": "accept", "content": dict(answer)}
