from __future__ import annotations

import dataclasses
import threading
from types import MappingProxyType
from typing import Any

import pytest

from django_mcp import conf
from django_mcp.authoring.errors import ConfigurationError
from django_mcp.conf.reading import read


def plain(value: Any) -> Any:
    if isinstance(value, (dict, MappingProxyType)):
        return {key: plain(item) for key, item in value.items()}
    return value


def as_plain(settings: Any) -> dict[str, Any]:
    return {field.name: plain(getattr(settings, field.name)) for field in dataclasses.fields(settings)}


DEFAULT_SERVER = {
    "key": "default",
    "name": "MCP Server",
    "version": "1.0.0",
    "server_info": {},
    "instructions": None,
    "auth": None,
    "www_authenticate": {},
    "protected_resource": None,
    "allowed_origins": (),
    "legacy_versions": ("2025-11-25", "2025-06-18", "2025-03-26"),
    "lenient_version_header": True,
    "wire_checks": None,
    "confirm_destructive": False,
    "tags": None,
    "include": None,
    "exclude": None,
    "axes": {},
    "cache_ttl_ms": 300_000,
    "cache_scope": "private",
    "max_body_bytes": 4_194_304,
    "max_json_values": 100_000,
    "state_max_age_s": 600,
    "call_timeout": None,
    "stream_keepalive_s": 15,
    "inline_refs": False,
}


def test_a_site_without_settings_has_the_defaults(settings: Any) -> None:
    del settings.DJANGO_MCP
    site = conf.get()
    assert as_plain(site) | {"servers": None} == {
        "servers": None,
        "classifier": None,
        "policies": {},
        "formats": {},
        "tasks": {
            "STORE": "django_mcp.background.store.OrmStore",
            "RUNNER": "django_mcp.background.runner.TasksRunner",
            "RETENTION_S": 300,
            "BACKEND": "default",
            "POLL_INTERVAL_MS": 1000,
        },
        "cache": "default",
        "expose_faults": False,
        "log_signals": True,
    }
    assert list(site.servers) == ["default"]
    assert as_plain(site.server("default")) == DEFAULT_SERVER
    assert conf.offences() == []


def test_every_setting_is_a_field_of_its_owner() -> None:
    per_server = ["key", *(setting.name.lower() for setting in conf.SETTINGS if setting.per_server)]
    site = [setting.name.lower() for setting in conf.SETTINGS if not setting.per_server]
    assert [field.name for field in dataclasses.fields(conf.ServerSettings)] == per_server
    assert sorted(field.name for field in dataclasses.fields(conf.Settings)) == sorted(site)


def test_every_default_is_of_its_own_kind() -> None:
    found = {
        setting.name: list(setting.kind.problems(setting.default, deep=True)) for setting in conf.SETTINGS
    }
    assert found == {setting.name: [] for setting in conf.SETTINGS}


def test_a_server_overrides_the_top_level(settings: Any) -> None:
    settings.DJANGO_MCP = {
        "NAME": "Shop",
        "MAX_BODY_BYTES": 10,
        "SERVER_INFO": {"title": "The shop", "icons": [{"src": "/icon.svg", "sizes": ["any"]}]},
        "SERVERS": {
            "default": {"TAGS": ["public"]},
            "staff": {
                "NAME": "Back office",
                "SERVER_INFO": {"description": "Staff only"},
                "INCLUDE": {"b", "a"},
            },
        },
    }
    site = conf.get()
    shop = DEFAULT_SERVER | {"name": "Shop", "max_body_bytes": 10}
    info = {"title": "The shop", "icons": ({"src": "/icon.svg", "sizes": ("any",)},)}
    default, staff = site.server("default"), site.server("staff")
    assert as_plain(default) | {"server_info": None} == shop | {"tags": ("public",), "server_info": None}
    assert plain(default.server_info["icons"][0]) == info["icons"][0]
    assert default.server_info["title"] == "The shop"
    assert as_plain(staff) == shop | {
        "key": "staff",
        "name": "Back office",
        "server_info": {"description": "Staff only"},
        "include": ("a", "b"),
    }
    assert conf.offences() == []


def test_an_unknown_server_is_a_configuration_error_that_names_the_known_ones(settings: Any) -> None:
    settings.DJANGO_MCP = {"SERVERS": {"staff": {}}}
    with pytest.raises(ConfigurationError) as caught:
        conf.get().server("stuff")
    error = caught.value
    assert (error.tool, error.callback, error.message) == (
        "DJANGO_MCP",
        "SERVERS",
        "There is no server 'stuff' in DJANGO_MCP[\"SERVERS\"]; there are default, staff.",
    )


@pytest.mark.parametrize(
    ("debug", "expose", "shown"),
    [(False, False, False), (True, False, True), (False, True, True)],
)
def test_faults_are_exposed_by_setting_or_in_debug(
    settings: Any, debug: bool, expose: bool, shown: bool
) -> None:
    settings.DEBUG = debug
    settings.DJANGO_MCP = {"EXPOSE_FAULTS": expose}
    assert conf.get().expose_faults is shown


def test_settings_are_the_same_object_until_they_change(settings: Any) -> None:
    before = conf.get()
    assert conf.get() is before
    settings.LANGUAGE_CODE = "de"
    assert conf.get() is before
    settings.DJANGO_MCP = {"NAME": "Renamed"}
    after = conf.get()
    assert (after is before, after.server("default").name) == (False, "Renamed")
    settings.DEBUG = True
    assert conf.get() is not after


def test_threads_that_read_at_once_get_the_same_object(settings: Any) -> None:
    settings.DJANGO_MCP = {}
    start, found = threading.Barrier(8), []

    def look() -> None:
        start.wait()
        found.append(conf.get())

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 8
    assert len({id(site) for site in found}) == 1


def test_what_was_read_cannot_be_changed(settings: Any) -> None:
    settings.DJANGO_MCP = {"WWW_AUTHENTICATE": {"realm": "shop"}, "ALLOWED_ORIGINS": ["https://a.example"]}
    server = conf.get().server("default")
    with pytest.raises(dataclasses.FrozenInstanceError):
        server.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        server.www_authenticate["realm"] = "other"  # type: ignore[index]
    assert server.allowed_origins == ("https://a.example",)


@pytest.mark.parametrize("raw", [None, 3, [], {"SERVERS": 3}, {"SERVERS": {1: {}}}, {1: 2}])
def test_settings_of_the_wrong_shape_stand_at_their_defaults(settings: Any, raw: Any) -> None:
    settings.DJANGO_MCP = raw
    assert as_plain(conf.get().server("default")) == DEFAULT_SERVER


def test_a_misconfigured_value_stands_at_its_default_and_its_neighbours_count() -> None:
    servers, site = read(
        {"NAME": 3, "VERSION": "2", "CACHE": None, "SERVERS": {"a": {"NAME": "A", "VERSION": 2}, "b": 3}}
    )
    assert {key: (server["name"], server["version"]) for key, server in servers.items()} == {
        "default": ("MCP Server", "2"),
        "a": ("A", "2"),
        "b": ("MCP Server", "2"),
    }
    assert site["cache"] == "default"
