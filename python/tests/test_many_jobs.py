"""Many jobs at once, and their money. GRIDBAY_JOBS says how many: 100 unless it is set."""

import os
import secrets
import sys
import time
from decimal import Decimal

from gridbay import Executor

JOBS = int(os.environ.get("GRIDBAY_JOBS", "100"))


def cube(n):
    return n, n**3


def test_a_job_for_each_call_and_one_statement(node, want):
    project = "many-" + secrets.token_hex(4)
    node.post("/projects", {"name": project, "limits": {}})
    own, began = [sys.modules[__name__]], time.monotonic()
    with Executor(node, want=want, modules=own, patience=300, project=project) as executor:
        assert list(executor.map(cube, range(JOBS), chunksize=1)) == list(map(cube, range(JOBS)))
        took = time.monotonic() - began
        # A slot is paid when it ends.
        end = time.monotonic() + 60
        while True:
            statement = executor.statement()
            bought = node.get("/ledger/statement", project=project)["bought"]
            cost = sum(Decimal(order["cost"]) for order in bought)
            settled = len(bought) == JOBS and not any(
                Decimal(node.jobs.show(order["job"])["locked"]) for order in bought
            )
            if (settled and statement.paid == cost) or time.monotonic() > end:
                break
            time.sleep(1)
    assert (statement.jobs, statement.calls, statement.failed) == (JOBS, JOBS, 0)
    assert len({order["order"] for order in bought}) == JOBS
    assert settled and statement.paid == cost > 0
    print(f"{statement}; {took:.0f} s until the last result, {took / JOBS:.2f} s a job")
