"""A permission is a codename or a function of the context; what cannot be decided is not granted."""

from __future__ import annotations

import logging

import pytest

from django_mcp import Context
from django_mcp.auth.permissions import allowed


class Someone:
    is_authenticated = True

    def has_perm(self, codename):
        return codename == "shop.view"


@pytest.mark.parametrize(("codename", "granted"), [("shop.view", True), ("shop.add", False)])
def test_a_codename_is_asked_of_the_user(codename, granted):
    assert allowed(codename, Context(identity=Someone())) is granted


async def late(ctx):
    return ctx.assigns["may"]


@pytest.mark.parametrize("may", [True, False])
@pytest.mark.parametrize("permission", [lambda ctx: ctx.assigns["may"], late])
def test_a_function_of_the_context_decides_async_or_not(permission, may):
    assert allowed(permission, Context(assigns={"may": may})) is may


def test_a_permission_that_raises_refuses_and_is_logged(caplog):
    def broken(ctx):
        raise LookupError("x")

    assert allowed(broken, Context()) is False
    [record] = caplog.records
    assert (record.levelno, record.exc_info[0]) == (logging.ERROR, LookupError)
