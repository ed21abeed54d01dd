"""The floor: what somebody would write by hand for one answer, and nothing checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt


def views(result: dict[str, Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A view and an asynchronous one that decode what is sent and answer with this result."""
    said = json.loads(result["content"][0]["text"]) if "content" in result else None

    def answer(body: bytes) -> JsonResponse:
        message = json.loads(body)
        told = dict(result)
        if said is not None:
            told["content"] = [{"type": "text", "text": json.dumps(said)}]
        return JsonResponse({"jsonrpc": "2.0", "id": message["id"], "result": told})

    @csrf_exempt
    def view(request: HttpRequest) -> JsonResponse:
        return answer(request.body)

    @csrf_exempt
    async def aview(request: HttpRequest) -> JsonResponse:
        return answer(request.body)

    return view, aview
