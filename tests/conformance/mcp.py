"""The tools of the conformance suite, by the names and behaviours it asks for."""

from __future__ import annotations

import asyncio
import time

from django_mcp import BaseTool, ToolError, register

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

NAME_FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ASK_NAME = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "What is your name?", "requestedSchema": NAME_FORM},
}
ASK_MODEL = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "What is the capital of France?"}}],
        "maxTokens": 100,
    },
}
ASK_ROOTS = {"method": "roots/list", "params": {}}


class Fixture(BaseTool):
    """A tool without arguments; its name is the function's."""

    input_schema = {"type": "object", "properties": {}, "additionalProperties": False}


def fixture(run):
    """Serve a function of the context as a tool of its name."""
    members = {
        "name": run.__name__,
        "description": run.__doc__,
        "run": lambda self, arguments, ctx: run(ctx),
        "__module__": __name__,
    }
    register(type(run.__name__, (Fixture,), members))
    return run


@fixture
def test_simple_text(ctx):
    """Answers with text."""
    return ctx.text("This is a simple text response for testing.")


@fixture
def test_tool_with_progress(ctx):
    """Says how far it is, no faster than reports are sent."""
    for done in (0, 50, 100):
        ctx.report_progress(done, 100, f"Completed step {done} of 100")
        time.sleep(0.12)
    return ctx.text("Done.")


@fixture
def test_image_content(ctx):
    """Answers with an image."""
    return ctx.image(PNG, "image/png")


@fixture
def test_audio_content(ctx):
    """Answers with a sound."""
    return ctx.audio(WAV, "audio/wav")


@fixture
def test_embedded_resource(ctx):
    """Answers with an embedded resource."""
    return ctx.embedded_resource("test://embedded-resource", text="embedded", mime_type="text/plain")


@fixture
def test_multiple_content_types(ctx):
    """Answers with text, an image and a resource."""
    resource = ctx.embedded_resource("test://mixed-content-resource", text="{}", mime_type="application/json")
    return ctx.text("Multiple content types test:") + ctx.image(PNG, "image/png") + resource


@fixture
def test_error_handling(ctx):
    """Answers with an error."""
    raise ToolError("This tool intentionally returns an error for testing")


@fixture
def test_logging_tool(ctx):
    """Would log, if this server sent log messages."""
    return ctx.text("logged")


@fixture
def test_missing_capability(ctx):
    """Needs a client that samples."""
    ctx.require({"sampling": {}})
    return ctx.text("the client samples")


@fixture
def test_streaming_elicitation(ctx):
    """Asks the user."""
    return ctx.text(f"The user chose to {ctx.elicit('Go on?', NAME_FORM, key='go_on').action}.")


@fixture
def test_input_required_result_elicitation(ctx):
    """Asks for a name and greets."""
    answer = ctx.elicit("What is your name?", NAME_FORM, key="user_name")
    return ctx.text(f"Hello, {answer.content.get('name', 'stranger')}!")


@fixture
def test_input_required_result_sampling(ctx):
    """Asks the client's model."""
    return ctx.json(ctx.request_input({"capital_question": ASK_MODEL}))


@fixture
def test_input_required_result_list_roots(ctx):
    """Asks for the client's roots."""
    return ctx.json(ctx.request_input({"client_roots": ASK_ROOTS}))


@fixture
def test_input_required_result_request_state(ctx):
    """Asks for a confirmation, with a state."""
    _confirm(ctx)
    return ctx.text("state-ok")


@fixture
def test_input_required_result_tampered_state(ctx):
    """Asks for a confirmation, with a state that is signed."""
    _confirm(ctx)
    return ctx.text("confirmed")


def _confirm(ctx):
    form = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    return ctx.elicit("Please confirm", form, key="confirm")


@fixture
def test_input_required_result_multiple_inputs(ctx):
    """Asks the user, the model and for the roots at once."""
    asked = {"user_name": ASK_NAME, "greeting": ASK_MODEL, "client_roots": ASK_ROOTS}
    return ctx.json(ctx.request_input(asked))


@fixture
def test_input_required_result_multi_round(ctx):
    """Asks twice."""
    name = ctx.elicit("Step 1: your name?", NAME_FORM, key="step1")
    color = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}
    ctx.elicit("Step 2: your favorite color?", color, key="step2")
    return ctx.text(f"Done, {name.content.get('name', 'stranger')}.")


@fixture
def test_input_required_result_capabilities(ctx):
    """Asks only for what the client can give."""
    asked = {}
    if "elicitation" in ctx.capabilities:
        asked["user_name"] = ASK_NAME
    if "sampling" in ctx.capabilities:
        asked["greeting"] = ASK_MODEL
    return ctx.json(ctx.request_input(asked))


@register
class MirroredHeader(BaseTool):
    """Echoes a region that a header repeats."""

    name = "test_x_mcp_header"
    input_schema = {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    }

    def run(self, arguments, ctx):
        return ctx.text(arguments["region"])


@register
class WholeSchema(BaseTool):
    """Has a schema that uses what JSON Schema 2020-12 offers. Never called."""

    name = "json_schema_2020_12_tool"
    input_schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }

    def run(self, arguments, ctx):
        return ctx.text("never called")


class Work(BaseTool):
    """A tool whose calls are tasks, for clients that take them."""

    options = {"background": True}
    input_schema = {"type": "object", "properties": {}, "additionalProperties": False}


@register
class Greet(BaseTool):
    """Greets at once."""

    input_schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    }

    def run(self, arguments, ctx):
        return ctx.text(f"Hello, {arguments['name']}!")


@register
class SlowCompute(Work):
    """Takes its time."""

    input_schema = {
        "type": "object",
        "properties": {"seconds": {"type": "integer"}, "label": {"type": "string"}},
        "required": ["seconds"],
    }

    async def run(self, arguments, ctx):
        await asyncio.sleep(arguments["seconds"])
        return ctx.text(f"computed {arguments.get('label', '')}")


@register
class FailingJob(Work):
    """Fails; only for clients that take tasks."""

    def before_submit(self, action, data, ctx):
        ctx.require({"extensions": {"io.modelcontextprotocol/tasks": {}}})

    async def run(self, arguments, ctx):
        await asyncio.sleep(1)
        raise ToolError("the job failed")


@register
class ProtocolErrorJob(Work):
    """Needs, in the middle of its work, what the client does not have."""

    def run(self, arguments, ctx):
        ctx.require({"sampling": {"context": {}}})


@register
class ConfirmDelete(Work):
    """Asks while it works."""

    input_schema = {"type": "object", "properties": {"filename": {"type": "string"}}}

    def run(self, arguments, ctx):
        form = {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
        return ctx.text(f"The user chose to {ctx.elicit('Delete it?', form, key='delete').action}.")


@register
class MultiInput(Work):
    """Asks twice at once while it works."""

    def run(self, arguments, ctx):
        return ctx.json(ctx.request_input({"first": ASK_NAME, "second": ASK_NAME}))


@register
class AskThenWork(Work):
    """Asks before its work begins."""

    name = "test_tool_with_task"

    def before_submit(self, action, data, ctx):
        ctx.elicit("What is your name?", NAME_FORM, key="user_name")

    def run(self, arguments, ctx):
        answer = ctx.elicit("What is your name?", NAME_FORM, key="user_name")
        return ctx.text(f"Worked for {answer.content.get('name', 'a stranger')}.")
