"""The programs of the page /docs, as the page itself writes them."""

import json
import subprocess

from support.box import ROOT
from support.openapi import FILE, OPERATIONS

BY_ID = {operation.id: operation for operation in OPERATIONS}


def programs(origin):
    """{language: [(operation, the example's summary, program)]} in page order; for a walk the operation is its name and the
    summary None. "calls" has what they are written from (src/web/programs.js)."""
    made = subprocess.run(["node", "tests/support/docs_programs.js", "src/web/programs.js", FILE, origin], cwd=ROOT,
                          check=True, capture_output=True, text=True)
    return {language: [(name if example is None else BY_ID[name], example, program) for name, example, program in rows]
            for language, rows in json.loads(made.stdout).items()}


def promised(operation):
    """The schema of the answer that succeeds; none where it is no JSON."""
    status = max(s for s in operation.responses if s.startswith("2"))
    content = operation.responses[status].get("content", {})
    return content.get("application/json", {}).get("schema")
