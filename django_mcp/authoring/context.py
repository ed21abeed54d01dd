from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.utils.functional import SimpleLazyObject

from django_mcp.encoding import codec
from django_mcp.encoding.normalise import normalise

if TYPE_CHECKING:
    from django.http import HttpRequest


class Content(list[dict[str, Any]]):
    """A list of MCP content blocks, as the builders of `Context` make them; `+` joins."""

    def __add__(self, other: list[Any]) -> Content:  # type: ignore[override]  # joins content with content only
        return Content([*self, *other])


class Context:
    """One call as its handler sees it. Lives as long as the call; nothing in it outlives it.

    `request_id` is the JSON-RPC id; `server`, `tool` and `action` name what was called; `meta` is the request's
    `_meta`; `version` and `capabilities` are the protocol revision and capabilities the client stated in this request;
    `assigns` is a dict that authentication and middleware fill (`request.mcp_assigns`); `answers` holds what the user
    answered so far (MCP input requests); `request` is the HttpRequest, None on stdio; `view` is what this caller may
    see of the server.
    """

    __slots__ = (
        "_headers",
        "_identity",
        "action",
        "answers",
        "assigns",
        "cancelled",
        "capabilities",
        "meta",
        "request",
        "request_id",
        "server",
        "tool",
        "version",
        "view",
    )

    def __init__(
        self,
        *,
        request: HttpRequest | None = None,
        identity: Any = None,
        assigns: dict[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.request = request
        self.assigns: dict[str, Any] = {} if assigns is None else assigns
        self.request_id: str | int | float | None = None
        self.server = ""
        self.tool = ""
        self.action: str | None = None
        self.meta: Mapping[str, Any] = {}
        self.version = ""
        self.capabilities: Mapping[str, Any] = {}
        self.answers: dict[str, Any] = {}
        self.cancelled = False
        self.view: Any = None
        self._identity = identity
        self._headers = headers

    @property
    def user(self) -> Any:
        """Who authentication found (`AUTH`), or Django's AnonymousUser."""
        if self._identity is None:
            # The auth app's models cannot be imported before the app registry is ready.
            from django.contrib.auth.models import AnonymousUser

            self._identity = AnonymousUser()
        return self._identity

    async def auser(self) -> Any:
        """`user` for async handlers: a lazily loaded one is loaded off the event loop."""
        user = self.user
        if isinstance(user, SimpleLazyObject):
            await sync_to_async(bool, thread_sensitive=True)(user)
        return user

    @property
    def headers(self) -> Mapping[str, str]:
        """Request headers by case-insensitive name; empty on stdio."""
        if self._headers is None:
            self._headers = {} if self.request is None else self.request.headers
        return self._headers

    @staticmethod
    def text(text: str) -> Content:
        """A text block."""
        return Content([{"type": "text", "text": text}])

    @staticmethod
    def json(value: Any) -> Content:
        """A text block with the value as JSON. Raises EncodingError for what JSON cannot carry."""
        return Content([{"type": "text", "text": codec.text(normalise(value))}])

    @staticmethod
    def image(data: str, mime_type: str) -> Content:
        """An image block; `data` is standard base64."""
        return Content([{"type": "image", "data": data, "mimeType": mime_type}])

    @staticmethod
    def audio(data: str, mime_type: str) -> Content:
        """An audio block; `data` is standard base64."""
        return Content([{"type": "audio", "data": data, "mimeType": mime_type}])

    @staticmethod
    def resource_link(
        uri: str,
        name: str,
        *,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
    ) -> Content:
        """A link to a resource; `size` is in bytes."""
        fields = {"title": title, "description": description, "mimeType": mime_type, "size": size}
        stated = {field: value for field, value in fields.items() if value is not None}
        return Content([{"type": "resource_link", "uri": uri, "name": name, **stated}])

    @staticmethod
    def embedded_resource(
        uri: str, *, text: str | None = None, blob: str | None = None, mime_type: str | None = None
    ) -> Content:
        """A resource carried in the answer: exactly one of `text` and `blob` (base64), else TypeError."""
        if (text is None) == (blob is None):
            raise TypeError("An embedded resource holds either text or blob.")
        resource: dict[str, Any] = {"uri": uri}
        if mime_type is not None:
            resource["mimeType"] = mime_type
        resource.update({"text": text} if text is not None else {"blob": blob})
        return Content([{"type": "resource", "resource": resource}])
