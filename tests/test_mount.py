"""`manage.py check` looks at how the endpoint is mounted."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings
from django.urls import include, path, re_path

from django_mcp import testing
from django_mcp.checks import check_mcp
from django_mcp.transports.http import mount
from django_mcp.views import AsyncMCPView, MCPView


@pytest.fixture
def told(settings, monkeypatch):
    """The checks of a site with these URL patterns and no tools, as (id, message, hint)."""

    def check(*patterns):
        module = ModuleType("tests.urls_of_one_test")
        module.urlpatterns = list(patterns)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        settings.ROOT_URLCONF = module.__name__
        with testing.served():
            return [(message.id, message.msg, message.hint) for message in check_mcp(None)]

    return check


@pytest.mark.parametrize("prefix", ["mcp", "", "api/mcp"])
@pytest.mark.parametrize("urls", ["django_mcp.urls", "django_mcp.aurls"])
def test_a_mount_without_a_slash_is_right(told, prefix, urls):
    assert told(path(prefix, include(urls))) == []


@pytest.mark.parametrize("urls", ["django_mcp.urls", "django_mcp.aurls"])
def test_a_mount_with_a_slash_is_warned_of(told, urls):
    assert told(path("api/", include([path("mcp/", include(urls))]))) == [
        (
            "django_mcp.W004",
            "The endpoint is mounted at 'mcp/', so the address without the slash is not answered.",
            f'Write path("mcp", include("{urls}")): it answers with and without.',
        )
    ]


@pytest.mark.parametrize("view", [MCPView, AsyncMCPView])
def test_an_endpoint_without_the_app_is_refused_where_it_is_mounted(view):
    """Without the app no `mcp` module is read and no check is made: the endpoint would serve nothing."""
    others = [name for name in settings.INSTALLED_APPS if name.split(".")[0] != "django_mcp"]
    with override_settings(INSTALLED_APPS=others), pytest.raises(ImproperlyConfigured) as refused:
        view.as_view()
    assert str(refused.value) == 'The MCP endpoint needs "django_mcp" in INSTALLED_APPS.'


def test_a_view_serves_a_server_of_the_settings(told, settings):
    settings.DJANGO_MCP = {"SERVERS": {"staff": {}}}
    assert told(path("a", MCPView.as_view()), path("b", AsyncMCPView.as_view(server="staff"))) == []
    [offence] = told(path("c", MCPView.as_view(server="stuff")), path("d", lambda request: None))
    assert offence[:2] == (
        "django_mcp.E084",
        "A view serves 'stuff', which is no server of DJANGO_MCP[\"SERVERS\"].",
    )


def test_a_server_named_by_the_pattern_is_looked_up_too(told, settings):
    settings.DJANGO_MCP = {"SERVERS": {"staff": {}}}
    assert told(path("staff", include("django_mcp.urls"), {"server": "staff"})) == []
    assert [id_ for id_, *_ in told(path("stuff", include("django_mcp.urls"), {"server": "stuff"}))] == [
        "django_mcp.E084"
    ]
    assert [id_ for id_, *_ in told(path("c", MCPView.as_view(), {"server": "stuff"}))] == ["django_mcp.E084"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (lambda: path("mcp", include("django_mcp.urls"), {"sever": "staff", "server": "default"}), "sever"),
        (lambda: path("<slug:tenant>/", include([path("mcp", include("django_mcp.urls"))])), "tenant"),
        (lambda: re_path("^(?P<b>x)/(?P<a>y)$", AsyncMCPView.as_view(), {"c": 1}), "a, b, c"),
    ],
)
def test_an_argument_that_the_endpoint_does_not_take_is_refused(told, pattern, names):
    assert told(pattern()) == [
        (
            "django_mcp.E085",
            f"A URL pattern gives the endpoint {names}, and it takes server alone.",
            'Name a server by {"server": "..."}, and take everything else out of the pattern.',
        )
    ]


def test_arguments_of_other_views_are_their_own_business(told):
    assert told(path("<slug:tenant>", lambda request, tenant: None, {"a": 1})) == []


def test_the_address_of_a_server_is_that_of_its_first_endpoint(told):
    told(
        path("pages/", include([path("<slug:page>", lambda request, page: None)])),
        path("<str:server>/mcp", include("django_mcp.urls")),
        re_path("^odd/(?:mcp)", MCPView.as_view()),
        path("api/", include([path("mcp", include("django_mcp.urls"))])),
        path("second/mcp", include("django_mcp.aurls", namespace="second")),
        path("staff/mcp", AsyncMCPView.as_view(server="staff")),
        path("named/mcp", include("django_mcp.urls", namespace="named"), {"server": "named"}),
    )
    assert [mount.address(server) for server in ("default", "staff", "named", "none")] == [
        "/api/mcp",
        "/staff/mcp",
        "/named/mcp",
        None,
    ]


def test_a_site_without_urls_is_not_looked_at(settings):
    settings.ROOT_URLCONF = None
    with testing.served():
        assert check_mcp(None) == []
    assert mount.address("default") is None
