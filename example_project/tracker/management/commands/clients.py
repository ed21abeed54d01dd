from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

CLAUDE = """\
Claude Code, on the command line:

claude mcp add --transport http {name} {url}
"""
CURSOR = """\
Cursor, in .cursor/mcp.json:

{document}
"""
VS_CODE = """\
VS Code, in .vscode/mcp.json:

{document}
"""


class Command(BaseCommand):
    help = "Print configuration to paste into MCP clients."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", help="where the site serves MCP")
        parser.add_argument("--name", default="task-tracker", help="what the client calls the site")

    def handle(self, *args: Any, **options: Any) -> None:
        name, url = options["name"], options["url"]
        cursor = {"mcpServers": {name: {"url": url}}}
        vs_code = {"servers": {name: {"type": "http", "url": url}}}
        sections = [
            CLAUDE.format(name=name, url=url),
            CURSOR.format(document=json.dumps(cursor, indent=2)),
            VS_CODE.format(document=json.dumps(vs_code, indent=2)),
        ]
        self.stdout.write("\n" + "\n".join(sections))
