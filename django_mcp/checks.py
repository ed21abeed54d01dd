"""Every misconfiguration as a Django system check, all at once.

The rooms report offences by rule; here each rule has its id. A rule keeps its id for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.apps import AppConfig
from django.core import checks

from django_mcp import conf
from django_mcp.authoring.reading import location
from django_mcp.registry.catalog import Finding, deploy_findings, findings
from django_mcp.transports.http import mount

#: Rule to check id and what the rule says.
RULES: Final[dict[str, tuple[str, str]]] = {
    # Tools
    "not-a-tool": ("E001", "`@register` decorates a subclass of `Tool`, `BaseTool` or `Toolset`."),
    "tool-name": ("E002", "A tool name is 1 to 128 characters of `A-Z a-z 0-9 _ . -`."),
    "tool-name-duplicate": ("E003", "A tool name is declared once."),
    "tool-name-reserved": ("E004", "A tool is not named like one of the framework's, such as `help`."),
    "callback-shape": (
        "E005",
        "A class-level member has the shape its documentation names; a map is a plain `dict`.",
    ),
    "callback-queries": ("E006", "A class-level member is read without the database."),
    "callback-missing": ("E007", "A tool defines what its form needs: actions and their handlers, or `run`."),
    "callback-async": (
        "E008",
        "`before_submit`, `hints`, `handle_error` and `action_context` are plain functions.",
    ),
    "handler-signature": ("E009", "A handler can be called with `data` and `ctx`."),
    "actions-twice": ("E010", "A tool declares its actions in one form, not in both."),
    "permission": ("E011", "A permission is `app_label.codename` or a callable."),
    "options-shape": ("E012", "`options` is a plain `dict`."),
    "options-unknown": ("E013", "`options` holds only known keys."),
    "options-type": ("E014", "A flag in `options` is `True` or `False`."),
    "options-timeout": ("E016", "`timeout` is a number of seconds."),
    "timeout-sync": ("E017", "`timeout` stands on a handler that is `async def`."),
    "callback-signature": (
        "E018",
        "`before_submit`, `hints`, `handle_error` and `action_context` take what they are called with.",
    ),
    "callback-value": (
        "E019",
        "What a tool says of itself is JSON: no lone surrogates, no keys that are not strings, no object.",
    ),
    # Actions
    "action-name": ("E020", "An action name is a string of one line."),
    "action-shape": ("E021", "An action schema is a plain `dict`."),
    "action-keys": ("E022", "An action schema holds only the eight known keys and the options."),
    "action-value": ("E023", "`defaults` and `examples` hold JSON values only."),
    "description-missing": ("E024", "An action has a `description`."),
    "description-shape": ("E025", "`description` is a string, lazily translated or not."),
    "description-newline": ("E026", "`description` is one line."),
    "properties-missing": ("E027", "An action has `properties`."),
    "properties-shape": ("E028", "`properties` is a plain `dict`."),
    "required-shape": ("E029", "`required` is a list of strings."),
    "required-duplicate": ("E030", "`required` names a property once."),
    "required-undeclared": ("E031", "`required` names declared properties."),
    "groups-shape": ("E032", "`required_one_of` is a list of lists of strings."),
    "group-empty": ("E033", "A group of `required_one_of` is not empty."),
    "group-duplicate-name": ("E034", "A group names a property once."),
    "group-undeclared": ("E035", "A group names declared properties."),
    "groups-equal": ("E036", "No two groups are equal as sets."),
    "group-superset": ("E037", "No group is a superset of another, which would make it dead."),
    "defaults-shape": ("E038", "`defaults` is a plain `dict`."),
    "defaults-undeclared": ("E039", "`defaults` names declared properties."),
    "defaults-required": ("E040", "A required property has no default."),
    "defaults-unknown-key": ("E041", "A default holds no key that a caller could not send."),
    "defaults-invalid": ("E042", "A default satisfies its property's schema."),
    "notes-shape": ("E043", "`notes` is a string."),
    "related-shape": ("E044", "`related` is a list of strings."),
    "examples-shape": ("E045", "`examples` is a list of plain `dict`s."),
    # Schemas
    "schema-key": ("E050", "Every key in a schema is a string, at any depth."),
    "schema-map": (
        "E051",
        "`properties`, `patternProperties`, `$defs` and `dependentSchemas` are plain `dict`s.",
    ),
    "schema-additional-properties": ("E052", "`additionalProperties` is `True`, `False` or a schema."),
    "schema-value": (
        "E053",
        "A schema holds JSON values only: no tuple, pattern object, date or lazy string.",
    ),
    "schema-number": ("E054", "Numbers in a schema are finite."),
    "schema-shape": ("E055", "Where a schema belongs stands a `dict`, `True` or `False`."),
    "schema-format": ("E056", "`format` is a known name."),
    "schema-dialect": ("E057", "`$schema` is absent or names draft 2020-12."),
    "schema-id": ("E058", "A nested schema has no `$id`."),
    "schema-ref-remote": ("E059", "`$ref` is local; nothing is ever fetched."),
    "schema-ref-unresolved": ("E060", "A local `$ref` leads somewhere."),
    "schema-composition": (
        "E061",
        "Composition adds no property to an object whose `properties` are closed.",
    ),
    "schema-cycle": ("E062", "A schema does not contain itself."),
    "schema-too-deep": ("E063", "A schema is at most 100 levels deep."),
    "schema-unbuildable": ("E064", "A schema is valid under the 2020-12 meta-schema and can be built."),
    "input-schema-root": ("E065", "The root of `input_schema` has the type `object`."),
    "header-annotation": (
        "E066",
        "`x-mcp-header` is a unique header token on a string, integer or boolean property.",
    ),
    # Typed tools
    "typed-hint": ("E090", "Every name in the hints of a typed tool exists at run time."),
    "typed-schema": ("E091", "The hints of a typed tool are types that a schema can be derived from."),
    "typed-parameter": ("E092", "The parameters of a typed tool have names."),
    "typed-hidden": ("E093", "A field that is read-only or deprecated has a default."),
    "toolset-empty": ("E094", "A Toolset has tools."),
    "toolset-entrypoint": ("E095", "`execute` is not both marked with `@tool` and ruled out."),
    "mark-astray": ("E096", "`@action` marks methods of a `Tool`, `@tool` those of a `Toolset`."),
    "typed-function": ("E097", "`@tool` decorates a function; its options are given by name."),
    # Settings
    "setting-unknown": ("E070", "`DJANGO_MCP` holds only known keys."),
    "setting-type": ("E071", "A setting has its documented type."),
    "setting-missing": ("E072", "A setting that is a mapping holds the keys it needs."),
    "setting-misplaced": ("E073", "A setting of the whole site does not stand under a server."),
    "setting-import": ("E074", "A dotted path can be imported and names what it should."),
    "setting-cache-unknown": ("E075", "`CACHE` is an alias of `CACHES`."),
    "setting-cache-scope-public": (
        "E076",
        "`CACHE_SCOPE` is not public while the answer depends on the caller.",
    ),
    "setting-cookies-any-origin": ("E077", "Session authentication does not go with `*` as origin or host."),
    "setting-auth-needs": ("E078", "The app or the middleware that `AUTH` needs is installed."),
    "filter-tag-unknown": ("E080", "`TAGS` names tags that some tool declares."),
    "filter-include-dead": ("E081", "An `INCLUDE` pattern matches some tool."),
    "filter-exclude-dead": ("E082", "An `EXCLUDE` pattern matches some tool."),
    "filter-empty": ("E083", "The filters of a server leave a tool to serve."),
    "mount-server": ("E084", "A view's `server` is a server of the settings."),
    "mount-argument": ("E085", "A URL pattern gives the endpoint no argument but `server`."),
    # Policies and axes
    "policy-type": ("E110", "A policy is a `Policy`, and its parts are of their classes."),
    "policy-value": ("E111", "Every field of a policy has its documented type."),
    "policy-incomplete": ("E112", "A part of a link in `POLICIES` lies over a whole one."),
    "policy-combination": ("E113", "The fields of a link go together."),
    "policy-stub": ("E114", "A stub is a plain function that takes `data` and `ctx`."),
    "policy-dead": ("E115", "A pattern of `POLICIES` matches some tool or action."),
    "axis-name": ("E116", "An axis stands in `AXES` under its own name."),
    "axis-duplicate": ("E117", "There is one axis of a name."),
    "axis-binder": ("E118", "A binder can be called with `ctx` and `params`."),
    # Background work and consent
    "tasks-store": ("E130", "The store of `TASKS` works where a served tool has background work."),
    "tasks-runner": ("E131", "The runner of `TASKS` works where a served tool has background work."),
    "tasks-unshared": ("E132", "Workers of other processes see what the store of `TASKS` keeps."),
    "confirm-memory": (
        "E133",
        "Where `CONFIRM_DESTRUCTIVE` asks, something that all processes share remembers the consents used.",
    ),
    # Warnings
    "related-unknown": ("W001", "`related` names actions of the tool."),
    "output-schema-closed": (
        "W002",
        "A closed `output_schema` declares the `hints` and `context` the tool adds.",
    ),
    "annotations-contradict": ("W003", "`annotations` and the options of the actions say the same."),
    "mount-slash": ("W004", "The endpoint's prefix does not end in a slash, so both spellings are answered."),
    "deploy-open": ("W005", "In production, `AUTH` says who may call (`check --deploy`)."),
    "tool-unregistered": ("W006", "A tool class in an `mcp` module is registered."),
    "schema-misspelt": ("W007", "A schema has no word that is nearly a keyword: it would have no effect."),
    "setting-misspelt": (
        "W008",
        "The settings stand under `DJANGO_MCP`, not under a name that is nearly that.",
    ),
    "typed-default": ("W020", "The default of an argument is one that callers could send."),
    "typed-unhinted": ("W021", "Every parameter of a typed tool has a type hint."),
    "policy-cache-writes": ("W030", "What is answered from a cache is declared `read_only`."),
    "policy-breaker-private": ("W031", "A shared breaker is kept in a cache that processes share."),
    "deploy-unconfirmed": (
        "W040",
        "In production, `CONFIRM_DESTRUCTIVE` is on where a served tool is destructive (`check --deploy`).",
    ),
    "deploy-tasks-in-process": (
        "W041",
        "In production, background work does not end with the process that took the call (`check --deploy`).",
    ),
    # Warnings on what widely used clients refuse
    "portable-name": (
        "W010",
        "A tool name has at most 64 characters and no dot, as the model providers want it.",
    ),
    "portable-description": ("W011", "A tool description has at most 1024 characters."),
    "portable-root-composition": (
        "W012",
        "The root of a published input schema has no `allOf`, `anyOf`, `oneOf`, `not` or `if`.",
    ),
    "portable-properties": ("W013", "The root of a published input schema has `properties`."),
    "portable-ref": ("W014", "A published schema has no `$ref` and no `$defs`."),
    "portable-type-list": ("W015", "A published schema names one type, not a list of types."),
    "portable-boolean": ("W016", "A published schema holds no schema that is just `true` or `false`."),
    "portable-output-root": ("W017", "The root of a published output schema is an object."),
}


def check_mcp(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Every offence of every tool and setting. An exception of an author's own code comes out as itself."""
    found = findings()
    found += [Finding(None, "ROOT_URLCONF", offence) for offence in mount.offences()]
    return [_message(finding) for finding in found]


def check_mcp_deploy(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """What `manage.py check --deploy` adds."""
    found = [Finding(None, "DJANGO_MCP", offence) for offence in conf.deploy_offences()]
    return [_message(finding) for finding in (*found, *deploy_findings())]


def _message(finding: Finding) -> checks.CheckMessage:
    offence = finding.offence
    place = location(finding.declared, offence.callback, offence.action)
    message = checks.Warning if offence.warning else checks.Error
    return message(
        finding.message,
        hint=f"{offence.fix} ({place})" if place else offence.fix,
        obj=finding.declared,
        id=f"django_mcp.{RULES[offence.rule][0]}",
    )
