from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from asgiref.sync import sync_to_async
from django.utils.functional import SimpleLazyObject

from django_mcp.authoring.elicitation import (
    Answer,
    InputRequired,
    InputUnsupported,
    Interruption,
    MissingCapability,
    check_url,
    declares,
    needed,
    read_answer,
)
from django_mcp.authoring.forms import Form
from django_mcp.authoring.progress import Cancelled, Reporter
from django_mcp.encoding import codec
from django_mcp.encoding.normalise import normalise
from django_mcp.schema import bound

if TYPE_CHECKING:
    from django.http import HttpRequest


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_TRACE: Final = ("traceparent", "tracestate", "baggage")


class Content(list[dict[str, Any]]):
    """A list of MCP content blocks, as the builders of `Context` make them; `+` joins."""

    def __add__(self, other: list[Any]) -> Content:  # type: ignore[override]  # content stays content
        return Content([*self, *other])


class Context:
    """One call as its handler sees it. Lives as long as the call; nothing in it outlives it.

    `request_id` is the JSON-RPC id; `server`, `tool` and `action` name what was called; `meta` is the
    request's `_meta`; `version` and `capabilities` are the protocol revision and capabilities the client
    stated in this request; `assigns` is a dict that authentication and middleware fill
    (`request.mcp_assigns`); `answers` holds what the user answered so far (MCP input requests); `request` is
    the HttpRequest, None on stdio; `view` is what this caller may see of the server; `cancelled` is whether
    the caller has given the call up; `task` is the id of the background task
    whose work this is, None in a call that is answered at once.
    """

    # What most calls leave as it is stands here, so that making a context costs little.
    request_id: str | int | float | None = None
    server = ""
    tool = ""
    action: str | None = None
    version = ""
    meta: Mapping[str, Any] = _NOTHING
    capabilities: Mapping[str, Any] = _NOTHING
    answers: Mapping[str, Any] = _NOTHING
    task: str | None = None
    view: Any = None
    #: Where progress goes; None where nobody asked for it.
    reporter: Reporter | None = None
    #: The interruption raised from this context, kept so that a handler cannot hide it.
    interruption: Interruption | None = None
    #: Whether this run asked a question whose answer holds only once.
    once = False
    #: Whether the answers at hand came with a state that was accepted this one time only.
    single_use = False
    _cancelled = False
    #: The context this one is a fork of.
    _whole: Context | None = None

    def __init__(
        self,
        *,
        request: HttpRequest | None = None,
        identity: Any = None,
        assigns: dict[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        notify: Callable[[bytes], None] | None = None,
    ) -> None:
        self.request = request
        #: How the transport sends a notification during the call; None where it cannot.
        self.notify = notify
        self.assigns: dict[str, Any] = {} if assigns is None else assigns
        #: Answers this run has read, which travel on when it asks again.
        self.carried: dict[str, Any] = {}
        self._asked: set[str] = set()
        self._identity = identity
        self._headers = headers

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits any more: the caller gave the call up, or the attempt's time is over."""
        return self._cancelled or (self._whole is not None and self._whole.cancelled)

    @cancelled.setter
    def cancelled(self, value: bool) -> None:
        self._cancelled = value

    def fork(self) -> Context:
        """The same call for one attempt of several: what an attempt asks and reads is its own."""
        fork = copy.copy(self)
        fork._whole, fork._cancelled = self, False
        fork._asked, fork.carried = set(), {}
        fork.interruption, fork.once = None, False
        return fork

    def adopt(self, fork: Context) -> None:
        """Take over what an attempt asked and read, unless nobody waits for that attempt any more."""
        if not fork._cancelled:
            self.carried, self.once, self.interruption = fork.carried, fork.once, fork.interruption

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

    @property
    def trace(self) -> dict[str, Any]:
        """The trace context that the request's `_meta` brings (W3C Trace Context, Baggage)."""
        return {key: self.meta[key] for key in _TRACE if isinstance(self.meta.get(key), str)}

    def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tell the client how far the call is (MCP progress); from sync and async handlers alike.

        `progress` grows with every report, `total` is what it grows to, `message` says what is done now.
        Never fails. Ends the call where the caller has given it up.
        """
        if self.cancelled:
            self._interrupt(Cancelled())
        if self.reporter is not None:
            self.reporter.report(progress, total, message)

    def elicit(
        self, message: str, schema: Mapping[str, Any], *, key: str | None = None, once: bool = False
    ) -> Answer:
        """Put a form to the user and return the answer (MCP elicitation, form mode).

        `schema` is an object schema of simple fields: strings, numbers, booleans, choices. `key` names the
        question, by default by the order of asking; a call asks each key once. With `once` the answer holds
        for a single repetition of the call. Ends the call where the answer is not there yet or does not fit
        the schema. Raises InputUnsupported, a ToolError, where the client cannot ask, and ValueError for a
        schema that no client could show or a key that was asked before.
        """
        form = Form(schema)
        params = {"mode": "form", "message": message, "requestedSchema": form.schema}
        return self._ask(params, form, key, once)

    def elicit_url(self, message: str, url: str, *, key: str | None = None, once: bool = False) -> Answer:
        """Ask the user to open a URL (MCP elicitation, URL mode). Acceptance is consent, not completion.

        `key`, `once` and the errors are those of `elicit`; ValueError also for what is no absolute URL.
        """
        check_url(url)
        return self._ask({"mode": "url", "message": message, "url": url}, None, key, once)

    def request_input(self, requests: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Send raw MCP input requests and return the client's responses by the same keys.

        For `sampling/createMessage` and `roots/list`, which MCP has deprecated; prefer `elicit`. The
        responses are the client's word and are not validated. Raises InputUnsupported, a ToolError, for a
        kind the client does not declare, and ValueError for a method that is no input request's.
        """
        for key, request in requests.items():
            self._begin(key, needed(request))
        responses = {key: self.answers[key] for key in requests if key in self.answers}
        self.carried.update(responses)
        missing = {key: request for key, request in requests.items() if key not in responses}
        if missing:
            self._ask_for(missing)
        return responses

    def require(self, capabilities: Mapping[str, Any]) -> None:
        """End the call with MCP -32021 unless the client declares these: `{"elicitation": {"url": {}}}`."""
        if not declares(self.capabilities, capabilities):
            self._interrupt(MissingCapability(capabilities))

    def _ask(self, params: dict[str, Any], form: Form | None, key: str | None, once: bool) -> Answer:
        key = key or f"question_{len(self._asked) + 1}"
        request = {"method": "elicitation/create", "params": params}
        self._begin(key, needed(request))
        self.once = self.once or once
        # Without a state that was spent on it, an answer could be sent any number of times.
        response = self.answers.get(key) if self.single_use or not once else None
        answer = read_answer(response, form)
        if answer is None:
            self._ask_for({key: request})
        self.carried[key] = response
        return answer

    def _begin(self, key: str, required: Mapping[str, Any]) -> None:
        """Whether a question may be put at all: not twice in one run, and not to whom cannot answer."""
        if key in self._asked:
            raise ValueError(f"The question {bound.render(key)!r} is asked twice in one call.")
        self._asked.add(key)
        # The work of a task may have been given the answer beforehand.
        if self.task is None:
            self._demand(required)

    def _demand(self, required: Mapping[str, Any]) -> None:
        if not declares(self.capabilities, required):
            raise InputUnsupported(required)

    def _ask_for(self, requests: Mapping[str, Mapping[str, Any]]) -> NoReturn:
        for request in requests.values():
            self._demand(needed(request))
        self._interrupt(InputRequired(requests))

    def _interrupt(self, interruption: Interruption) -> NoReturn:
        self.interruption = interruption
        raise interruption

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
