"""Functions over the market."""

import math
import os
import sys
import time

import pytest

from gridbay import Executor, RemoteError, UnsafeResult


def root(n):
    return n, math.isqrt(n)


def test_a_thousand_calls_and_one_statement(node, want):
    own = [sys.modules[__name__]]
    with Executor(node, want=want, ranks=4, modules=own, patience=120) as executor:
        results = list(executor.map(root, range(1_000)))
        assert results == [root(n) for n in range(1_000)]
        statement = executor.statement()
    assert (statement.calls, statement.failed, statement.jobs) == (1_000, 0, 1)
    assert statement.nodes >= 1
    assert "1000 calls (0 failed) in 1 jobs" in str(statement)
    end = time.monotonic() + 30
    # A slot is paid when it ends.
    while statement.paid == 0 and time.monotonic() < end:
        time.sleep(0.5)
        statement = executor.statement()
    assert statement.paid > 0
    print(statement)


def test_calls_that_come_together_share_a_job(executor):
    factor = 3
    futures = [executor.submit(lambda n: factor * n, n) for n in range(20)]
    assert [future.result() for future in futures] == [3 * n for n in range(20)]
    assert executor.statement().jobs == 1


def test_a_call_that_fails_fails_alone(executor):
    good, bad = executor.submit(divmod, 7, 2), executor.submit(divmod, 7, 0)
    assert good.result() == (3, 1)
    with pytest.raises(RemoteError) as caught:
        bad.result()
    assert caught.value.kind == "ZeroDivisionError"
    assert "divmod" not in str(caught.value) and caught.value.trace


def test_results_run_no_code_here(executor):
    class Trap:
        def __reduce__(self):
            return os.getcwd, ()

    with pytest.raises(UnsafeResult):
        executor.submit(Trap).result()


def test_trusted_sellers_may_send_anything(node, want):
    from fractions import Fraction

    with Executor(node, want=want, results="any", patience=120) as executor:
        assert executor.submit(Fraction, 1, 3).result() == Fraction(1, 3)


def test_a_node_without_such_a_python(node, want):
    with Executor(node, want=want, python="python-that-is-nowhere", patience=120) as executor:
        with pytest.raises(Exception, match="brought no results"):
            executor.submit(int).result()


def test_nothing_is_taken_after_the_end(node, want):
    executor = Executor(node, want=want)
    executor.shutdown()
    with pytest.raises(RuntimeError):
        executor.submit(int)
    assert executor.statement().jobs == 0
