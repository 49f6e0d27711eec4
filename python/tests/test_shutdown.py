"""The end of an executor leaves no call without an end. No node is needed."""

import threading
from concurrent.futures import CancelledError, wait

import pytest

from gridbay import Executor, GridbayError
from gridbay.executor import JOBS

#: Seconds within which a call has to have an end.
SOON = 10.0


class Jobs:
    """Stands for a node that refuses every job, once it may."""

    def __init__(self):
        self.may = threading.Event()
        self.begun = threading.Semaphore(0)

    def run(self, *words, **more):
        self.begun.release()
        assert self.may.wait(SOON)
        raise GridbayError("refused")


class Node:
    def __init__(self):
        self.jobs = Jobs()


def test_calls_that_still_wait_are_made_although_nobody_waits_for_the_end():
    node = Node()
    node.jobs.may.set()
    executor = Executor(node, linger=5.0)
    future = executor.submit(int)
    executor.shutdown(wait=False)
    with pytest.raises(GridbayError):
        future.result(SOON)


def test_calls_behind_those_that_run_are_cancelled():
    node = Node()
    executor = Executor(node, batch=1, linger=0.0)
    futures = [executor.submit(int) for _ in range(JOBS + 4)]
    waiting = Executor(node, linger=5.0)
    futures.append(waiting.submit(int))
    for _ in range(JOBS):
        assert node.jobs.begun.acquire(timeout=SOON)
    executor.shutdown(wait=False, cancel_futures=True)
    waiting.shutdown(cancel_futures=True)
    assert not wait(futures[JOBS:], SOON).not_done
    node.jobs.may.set()
    executor.shutdown()
    assert not wait(futures, SOON).not_done
    assert [future.cancelled() for future in futures] == [False] * JOBS + [True] * 5
    with pytest.raises(CancelledError):
        futures[-1].result(SOON)
    assert not node.jobs.begun.acquire(blocking=False)


def test_what_waits_for_a_future_may_use_the_executor():
    node = Node()
    executor = Executor(node, linger=5.0)
    heard = []

    def told(_):
        with pytest.raises(RuntimeError):
            executor.submit(int)
        heard.append(True)

    executor.submit(int).add_done_callback(told)
    executor.shutdown(cancel_futures=True)
    assert heard == [True]
