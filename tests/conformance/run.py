"""Runs the official conformance suite against the fixture site: `python -m tests.conformance.run`.

`expected.json` records, for each set of requirements, which scenarios do not pass and why. A scenario that fails
without being recorded fails the run, and so does one that is recorded and passes: the record may only shrink.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from example_project.process import running
from tests.node.packages import NODE, node

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text())
#: Scenarios that no set of requirements scores yet, and that pass all the same.
UNSCORED = {
    "http-header-validation",
    "http-custom-header-server-validation",
    "json-schema-2020-12",
    "tasks-capability-negotiation",
    "tasks-dispatch-and-envelope",
    "tasks-lifecycle",
    "tasks-mrtr-composition",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-request-state-removal",
    "tasks-required-task-error",
    "tasks-wire-fields",
}


def suite(address: str, requirements: str) -> str:
    """What the suite says of one set of requirements, without colours."""
    command = [node(), "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server"]
    options = ["--url", f"{address}/mcp", "--requirements", requirements]
    run = subprocess.run(
        [*command, *options], cwd=NODE, capture_output=True, text=True, timeout=300, check=False
    )
    return re.sub(r"\x1b\[[0-9;]*m", "", run.stdout + run.stderr)


def verdicts(output: str) -> tuple[dict[str, bool], set[str]]:
    """Whether each scenario passed, and which ones are not scored."""
    _, _, summary = output.partition("=== SUMMARY ===")
    scored, _, rest = summary.partition("Not scored for")
    passed = {name: mark == "✓" for mark, name in re.findall(r"^([✓✗]) ([\w-]+): ", scored, re.M)}
    return passed, set(re.findall(r"^\s+[✓✗] ([\w-]+) \(", rest, re.M))


def judge(output: str, requirements: str) -> tuple[str, list[str]]:
    """`passed/required` of a set, and what is not as recorded."""
    passed, unscored = verdicts(output)
    recorded = {name for names in EXPECTED[requirements].values() for name in names}
    required = passed.keys() - unscored
    failing = {name for name in required if not passed[name]}
    wrong = [f"{requirements}: {name} fails" for name in sorted(failing - recorded)]
    wrong += [f"{requirements}: {name} is recorded and passes" for name in sorted(recorded - failing)]
    wrong += [
        f"{requirements}: {name} fails"
        for name in sorted(UNSCORED & passed.keys())
        if name in unscored and not passed[name]
    ]
    if not required:
        wrong.append(f"{requirements}: the suite ran nothing")
    return f"{requirements} {len(required - failing)}/{len(required)}", wrong


def main() -> int:
    told, complaints = [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        running("gunicorn", Path(folder), "tests.conformance.settings") as address,
    ):
        for requirements in EXPECTED:
            output = suite(address, requirements)
            score, wrong = judge(output, requirements)
            if wrong:
                print(output)
            told.append(score)
            complaints += wrong
    for complaint in complaints:
        print(complaint)
    print(f"conformance: {', '.join(told)}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
