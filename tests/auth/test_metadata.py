"""Protected resource metadata (RFC 9728) at its well-known addresses."""

from __future__ import annotations

import pytest

SHOP = {
    "resource": "https://shop.example/mcp",
    "authorization_servers": ["https://login.shop.example"],
    "scopes_supported": ("orders:read",),
}
STAFF = {
    "resource": "https://shop.example/staff%20only/mcp/",
    "authorization_servers": ["https://login.shop.example"],
}
NONE = (404, {"error": "No protected resource metadata is published here."})
ROOT = "/.well-known/oauth-protected-resource"


@pytest.fixture(autouse=True)
def urls(settings):
    settings.ROOT_URLCONF = "django_mcp.auth.urls"
    settings.DJANGO_MCP = {"PROTECTED_RESOURCE": SHOP, "SERVERS": {"staff": {"PROTECTED_RESOURCE": STAFF}}}


@pytest.mark.parametrize("path", [ROOT, f"{ROOT}/", f"{ROOT}/mcp", f"{ROOT}/mcp/"])
def test_the_document_says_what_the_settings_say_whatever_the_host(client, path, settings):
    settings.ALLOWED_HOSTS = ["*"]
    response = client.get(path, headers={"host": "evil.example"})
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
    assert response.json() == {**SHOP, "scopes_supported": ["orders:read"]}


def test_each_server_has_its_own_document(client):
    assert client.get(f"{ROOT}/staff%20only/mcp").json() == STAFF


def test_the_only_document_is_at_the_root_whatever_its_server(client, settings):
    settings.DJANGO_MCP = {"SERVERS": {"staff": {"PROTECTED_RESOURCE": STAFF}, "public": {}}}
    assert client.get(ROOT).json() == STAFF


def test_a_resource_without_path_has_its_document_at_the_root(client, settings):
    whole = SHOP | {"resource": "https://shop.example"}
    settings.DJANGO_MCP = {"PROTECTED_RESOURCE": STAFF, "SERVERS": {"whole": {"PROTECTED_RESOURCE": whole}}}
    assert client.get(ROOT).json()["resource"] == "https://shop.example"


def test_of_several_documents_the_default_servers_is_at_the_root(client, settings):
    settings.DJANGO_MCP = {
        "SERVERS": {"staff": {"PROTECTED_RESOURCE": STAFF}, "shop": {"PROTECTED_RESOURCE": SHOP}}
    }
    assert client.get(ROOT).status_code == 404


@pytest.mark.parametrize("path", [f"{ROOT}/other", f"{ROOT}/mcp/x"])
def test_other_paths_have_none(client, path):
    response = client.get(path)
    assert (response.status_code, response.json()) == NONE


def test_without_the_setting_there_is_none(client, settings):
    settings.DJANGO_MCP = {}
    for path in (ROOT, f"{ROOT}/mcp"):
        response = client.get(path)
        assert (response.status_code, response.json()) == NONE


def test_it_is_read_only_and_needs_no_login(client, settings):
    settings.MIDDLEWARE = [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.auth.middleware.LoginRequiredMiddleware",
    ]
    assert client.post(ROOT).status_code == 405
    assert client.head(ROOT).status_code == 200
