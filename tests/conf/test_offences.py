from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.middleware import SessionMiddleware

from django_mcp import conf
from django_mcp.schema.offence import Offence

TOP = "the top level of DJANGO_MCP"


class Plain:
    """A class without an authenticate method."""


class Tokens:
    def authenticate(self, request: Any) -> Any:
        return None


class Cookies(Tokens):
    cookie_based = True


tokens = Tokens()
number = 3


def authenticate(request: Any) -> Any:
    return None


def offences(settings: Any, raw: Any) -> list[tuple[str, str, str, str]]:
    settings.DJANGO_MCP = raw
    found = conf.offences()
    assert all(type(offence) is Offence for offence in found)
    return [(offence.rule, offence.callback, offence.message, offence.fix) for offence in found]


@pytest.mark.parametrize("name", ["DJANGO_MPC", "DJANGO_MCPS", "DJANGOMCP"])
def test_settings_under_a_name_that_is_nearly_right_are_warned_of(settings: Any, name: str) -> None:
    del settings.DJANGO_MCP
    setattr(settings, name, {"AUTH": "site.auth"})
    [offence] = conf.offences()
    assert offence == Offence(
        rule="setting-misspelt",
        message=f"The setting {name} is nearly DJANGO_MCP, which is not set.",
        fix="Did you mean DJANGO_MCP?",
        callback="DJANGO_MCP",
        warning=True,
    )
    settings.DJANGO_MCP = {}
    assert conf.offences() == []


def test_settings_that_are_no_mapping_are_refused(settings: Any) -> None:
    names = ", ".join(setting.name for setting in conf.SETTINGS)
    assert offences(settings, []) == [
        (
            "setting-type",
            "DJANGO_MCP",
            f"DJANGO_MCP is [], not a mapping with the keys {names}.",
            f"Write a mapping with the keys {names}.",
        )
    ]


def test_every_offence_is_found_at_once(settings: Any) -> None:
    raw = {
        "NAME": "",
        "MAX_BODY_SIZE": 3,
        "CACHE_SCOPE": "shared",
        "SERVERS": {"a": {"TAG": ["x"], "FORMATS": {}, "CACHE_TTL_MS": -1}},
    }
    assert offences(settings, raw) == [
        (
            "setting-type",
            "NAME",
            "DJANGO_MCP[\"NAME\"] is '', not a string that is not blank.",
            "Write a string that is not blank.",
        ),
        (
            "setting-unknown",
            "DJANGO_MCP",
            "DJANGO_MCP has the unknown key MAX_BODY_SIZE.",
            "Did you mean MAX_BODY_BYTES?",
        ),
        (
            "setting-type",
            "CACHE_SCOPE",
            "DJANGO_MCP[\"CACHE_SCOPE\"] is 'shared', not 'private' or 'public'.",
            "Write 'private' or 'public'.",
        ),
        (
            "setting-unknown",
            "SERVERS",
            'DJANGO_MCP["SERVERS"]["a"] has the unknown key TAG.',
            "Did you mean TAGS?",
        ),
        (
            "setting-misplaced",
            "SERVERS",
            'DJANGO_MCP["SERVERS"]["a"] has the key FORMATS, which has no meaning here.',
            f"Move it to {TOP}.",
        ),
        (
            "setting-type",
            "SERVERS",
            'DJANGO_MCP["SERVERS"]["a"]["CACHE_TTL_MS"] is -1, not an integer of at least 0.',
            "Write an integer of at least 0.",
        ),
    ]


LEGACY = "'2025-11-25', '2025-06-18' or '2025-03-26'"
ORIGIN = "an origin such as 'https://app.example.com', 'null' or '*'"
PARAMETER = "a string of printable ASCII characters or a callable"
URL = "an absolute http or https URL without a fragment"


@pytest.mark.parametrize(
    ("name", "value", "place", "shown", "kind"),
    [
        ("NAME", None, "", "None", "a string that is not blank"),
        ("VERSION", 2, "", "2", "a string that is not blank"),
        ("INSTRUCTIONS", 2, "", "2", "a string that is not blank, or None"),
        ("AUTH", "authenticate", "", "'authenticate'", "a dotted path, or None"),
        ("AUTH", 3, "", "3", "a dotted path, or None"),
        ("SERVER_INFO", {"website_url": "shop"}, '["website_url"]', "'shop'", URL),
        ("SERVER_INFO", {"icons": "x"}, '["icons"]', "'x'", "a list of icons"),
        (
            "SERVER_INFO",
            {"icons": [{"src": "x", "theme": "blue"}]},
            '["icons"][0]["theme"]',
            "'blue'",
            "'light' or 'dark'",
        ),
        ("WWW_AUTHENTICATE", [], "", "[]", "a mapping of auth-param names to strings or callables"),
        ("WWW_AUTHENTICATE", {"realm": "a\r\nb"}, '["realm"]', "'a\r\nb'", PARAMETER),
        ("WWW_AUTHENTICATE", {"realm": 3}, '["realm"]', "3", PARAMETER),
        (
            "PROTECTED_RESOURCE",
            {"resource": "https://a.example/#x", "authorization_servers": ["https://login.example"]},
            '["resource"]',
            "'https://a.example/#x'",
            URL,
        ),
        (
            "PROTECTED_RESOURCE",
            {"resource": "https://a.example/mcp", "authorization_servers": []},
            '["authorization_servers"]',
            "[]",
            "a list of at least one issuer URL",
        ),
        ("ALLOWED_ORIGINS", "*", "", "'*'", "a list, tuple or set of origins"),
        ("ALLOWED_ORIGINS", ["https://a.example/"], "[0]", "'https://a.example/'", ORIGIN),
        ("LEGACY_VERSIONS", ["2025-11-25", "2024-11-05"], "[1]", "'2024-11-05'", LEGACY),
        ("LENIENT_VERSION_HEADER", 1, "", "1", "True or False"),
        ("WIRE_CHECKS", ["x"], "[0]", "'x'", "a dotted path"),
        ("TAGS", "public", "", "'public'", "a list, tuple or set of strings, or None"),
        ("EXCLUDE", [3], "[0]", "3", "a string that is not blank"),
        ("MAX_BODY_BYTES", True, "", "True", "an integer of at least 1"),
        ("MAX_JSON_VALUES", 0, "", "0", "an integer of at least 1"),
        ("STATE_MAX_AGE_S", 1.5, "", "1.5", "an integer of at least 1"),
        ("FORMATS", {"isbn": 3}, '["isbn"]', "3", "a callable, or None"),
        ("SERVERS", {"a": 3}, '["a"]', "3", None),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_at_its_place(
    settings: Any, name: str, value: Any, place: str, shown: str, kind: str | None
) -> None:
    if kind is None:
        kind = f"a mapping with the keys {', '.join(s.name for s in conf.SETTINGS if s.per_server)}"
    message = f'DJANGO_MCP["{name}"]{place} is {shown}, not {kind}.'
    assert offences(settings, {name: value}) == [("setting-type", name, message, f"Write {kind}.")]


@pytest.mark.parametrize(
    ("raw", "rule", "name", "message", "fix"),
    [
        (
            {"SERVER_INFO": {"titel": "x"}},
            "setting-unknown",
            "SERVER_INFO",
            'DJANGO_MCP["SERVER_INFO"] has the unknown key titel.',
            "Did you mean title?",
        ),
        (
            {"SERVER_INFO": {"icons": [{"href": "x", "src": "y"}]}},
            "setting-unknown",
            "SERVER_INFO",
            'DJANGO_MCP["SERVER_INFO"]["icons"][0] has the unknown key href.',
            "Keys are src, mime_type, sizes, theme.",
        ),
        (
            {"SERVER_INFO": {"icons": [{}]}},
            "setting-missing",
            "SERVER_INFO",
            'DJANGO_MCP["SERVER_INFO"]["icons"][0] lacks the key src.',
            "Add src.",
        ),
        (
            {"PROTECTED_RESOURCE": {"authorization_servers": ["https://login.example"]}},
            "setting-missing",
            "PROTECTED_RESOURCE",
            'DJANGO_MCP["PROTECTED_RESOURCE"] lacks the key resource.',
            "Add resource.",
        ),
        (
            {"WWW_AUTHENTICATE": {"the realm": "x"}},
            "setting-type",
            "WWW_AUTHENTICATE",
            "DJANGO_MCP[\"WWW_AUTHENTICATE\"] has a key that is 'the realm', not an auth-param name.",
            "Write an auth-param name.",
        ),
        (
            {"SERVERS": {3: {}}},
            "setting-type",
            "SERVERS",
            'DJANGO_MCP["SERVERS"] has a key that is 3, not a string that is not blank.',
            "Write a string that is not blank.",
        ),
        (
            {7: 1},
            "setting-unknown",
            "DJANGO_MCP",
            "DJANGO_MCP has the unknown key 7.",
            f"Keys are {', '.join(setting.name for setting in conf.SETTINGS)}.",
        ),
        (
            {"CACHE": "redis"},
            "setting-cache-unknown",
            "CACHE",
            "DJANGO_MCP[\"CACHE\"] is 'redis', which is no alias in CACHES.",
            "Write one of default, or add the alias to CACHES.",
        ),
    ],
)
def test_keys_and_aliases_are_checked(
    settings: Any, raw: Any, rule: str, name: str, message: str, fix: str
) -> None:
    assert offences(settings, raw) == [(rule, name, message, fix)]


@pytest.mark.parametrize("path", ["tokens", "Tokens", "authenticate"])
def test_authentication_is_a_function_a_class_or_an_instance(settings: Any, path: str) -> None:
    assert offences(settings, {"AUTH": f"{__name__}.{path}"}) == []


@pytest.mark.parametrize(
    ("raw", "place", "path", "why", "names"),
    [
        (
            {"AUTH": "no.such.Thing"},
            '["AUTH"]',
            "no.such.Thing",
            "cannot be imported (No module named 'no')",
            "a function, or a class or instance with an authenticate method",
        ),
        (
            {"AUTH": f"{__name__}.Plain"},
            '["AUTH"]',
            f"{__name__}.Plain",
            None,
            "a function, or a class or instance with an authenticate method",
        ),
        (
            {"AUTH": f"{__name__}.number"},
            '["AUTH"]',
            f"{__name__}.number",
            None,
            "a function, or a class or instance with an authenticate method",
        ),
        ({"CLASSIFIER": f"{__name__}.number"}, '["CLASSIFIER"]', f"{__name__}.number", None, "a callable"),
        (
            {"WIRE_CHECKS": [f"{__name__}.Plain", f"{__name__}.number"]},
            '["WIRE_CHECKS"][1]',
            f"{__name__}.number",
            None,
            "a WireCheck class",
        ),
        (
            {"SERVERS": {"a": {"AUTH": "no.such.Thing"}}},
            '["SERVERS"]["a"]["AUTH"]',
            "no.such.Thing",
            "cannot be imported (No module named 'no')",
            "a function, or a class or instance with an authenticate method",
        ),
    ],
)
def test_a_dotted_path_has_to_lead_to_something_fitting(
    settings: Any, raw: Any, place: str, path: str, why: str | None, names: str
) -> None:
    assert offences(settings, raw) == [
        (
            "setting-import",
            place.split('"')[1],
            f"DJANGO_MCP{place} is {path!r}, which {why or f'is not {names}'}.",
            f"Write the dotted path of {names}.",
        )
    ]


def test_shared_caching_is_refused_where_authentication_decides(settings: Any) -> None:
    raw = {"CACHE_SCOPE": "public", "SERVERS": {"staff": {"AUTH": f"{__name__}.authenticate"}}}
    assert offences(settings, raw) == [
        (
            "setting-cache-scope-public",
            "CACHE_SCOPE",
            "Server staff: CACHE_SCOPE is 'public' while AUTH decides who may call, so one caller's tools "
            "could be shown to another.",
            "Leave CACHE_SCOPE at 'private', or serve the public tools from a server of their own.",
        )
    ]


@pytest.mark.parametrize("name", ["ALLOWED_ORIGINS", "ALLOWED_HOSTS"])
def test_cookie_authentication_is_refused_where_any_site_may_call(settings: Any, name: str) -> None:
    settings.ALLOWED_HOSTS = ["*"] if name == "ALLOWED_HOSTS" else ["shop.example"]
    raw = {"ALLOWED_ORIGINS": ["*"] if name == "ALLOWED_ORIGINS" else []}
    assert offences(settings, raw | {"AUTH": f"{__name__}.Tokens"}) == []
    assert offences(settings, raw | {"AUTH": f"{__name__}.Cookies"}) == [
        (
            "setting-cookies-any-origin",
            name,
            f"Server default: {name} holds '*' while AUTH accepts the session cookie, so any web site a user "
            "visits could call tools as that user.",
            f"List what may call in {name}, or use token authentication.",
        )
    ]


APP = "django_mcp.tokens"
MIDDLEWARE = "django.contrib.sessions.middleware.SessionMiddleware"


class Needy(Tokens):
    required_apps = (APP,)
    required_middleware = (MIDDLEWARE,)


class OwnSessions(SessionMiddleware):
    pass


def test_what_an_authentication_needs_is_asked_for(settings: Any, monkeypatch: Any) -> None:
    path = f"{__name__}.Needy"
    monkeypatch.setattr(apps, "is_installed", lambda name: name != APP)
    settings.MIDDLEWARE = [
        "no.such.middleware",
        "django.middleware.gzip.GZipMiddleware",
        f"{__name__}.authenticate",
    ]
    assert offences(settings, {"AUTH": path}) == [
        (
            "setting-auth-needs",
            "AUTH",
            f"Server default: AUTH is {path!r}, which needs {needed!r} in {name}.",
            f"Add it to {name}.",
        )
        for needed, name in ((APP, "INSTALLED_APPS"), (MIDDLEWARE, "MIDDLEWARE"))
    ]


@pytest.mark.parametrize("used", [MIDDLEWARE, f"{__name__}.OwnSessions"])
def test_an_authentication_with_what_it_needs_is_right(settings: Any, used: str) -> None:
    settings.MIDDLEWARE = [used]
    assert offences(settings, {"AUTH": f"{__name__}.Needy"}) == []


def test_reading_settings_imports_nothing(settings: Any) -> None:
    settings.DJANGO_MCP = {"AUTH": "no.such.Thing"}
    assert conf.get().server("default").auth == "no.such.Thing"


def test_an_exception_of_an_imported_module_surfaces_as_itself(settings: Any, monkeypatch: Any) -> None:
    def broken(path: str) -> Any:
        raise RuntimeError(path)

    monkeypatch.setattr("django_mcp.conf.kinds.import_string", broken)
    settings.DJANGO_MCP = {"CLASSIFIER": "shop.classify"}
    with pytest.raises(RuntimeError, match=r"^shop\.classify$"):
        conf.offences()
