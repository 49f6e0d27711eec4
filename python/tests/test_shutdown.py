"""No call of an executor is left without an end. No node is needed."""

import os
import threading
from concurrent.futures import CancelledError, wait

import pytest

from gridbay import Client, Executor, GridbayError, UnsafeResult
from gridbay.executor import JOBS, RESULT_BYTES

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


class Slow:
    """Stands for a node whose jobs never end."""

    def __init__(self, refusal=None):
        self.jobs = self
        self.refusal = refusal
        self.cancelled = []

    def run(self, *words, **more):
        return {"id": "slow"}

    def wait(self, job, *, timeout=None):
        raise TimeoutError(f"job {job} is running still")

    def cancel(self, job):
        self.cancelled.append(job)
        if self.refusal is not None:
            raise self.refusal


@pytest.mark.parametrize("refusal", [None, GridbayError("refused")])
def test_a_job_that_takes_too_long_is_cancelled(refusal):
    node = Slow(refusal)
    with Executor(node, linger=0.0, patience=0.1) as executor:
        said = "could not be cancelled: refused" if refusal else "is cancelled"
        with pytest.raises(TimeoutError, match=f"running still, and {said}"):
            executor.submit(int).result(SOON)
    assert node.cancelled == ["slow"]


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


def test_a_number_of_calls_that_is_none_is_refused():
    with Executor(Node()) as executor, pytest.raises(ValueError, match="chunksize"):
        executor.map(int, ["1"], chunksize=-1)


def test_a_forked_process_has_no_use_of_its_parents_executor_and_client():
    with Client(url="http://127.0.0.1:9") as client, Executor(Node()) as executor:
        asks = [
            lambda: executor.submit(int),
            lambda: executor.map(int, ["1"]),
            client.node.status,
            lambda: next(client.events()),
        ]
        child = os.fork()
        if child == 0:
            refused = 0
            for ask in asks:
                try:
                    ask()
                except (RuntimeError, GridbayError) as error:
                    refused += "another process" in str(error)
            os._exit(refused)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == len(asks)


def test_results_beyond_what_is_read_into_memory_are_refused():
    class Boundless(Jobs):
        def run(self, *words, **more):
            return {"id": "0"}

        def wait(self, job, *, timeout=None):
            file = {"rank": 0, "path": "results.bin", "bytes": RESULT_BYTES + 1}
            return {"files": [file], "state": "done", "reason": None}

    node = Node()
    node.jobs = Boundless()
    with Executor(node) as executor, pytest.raises(UnsafeResult, match="fewer calls a job"):
        executor.submit(int).result(SOON)


def test_a_text_is_no_list_of_words():
    with Client(url="http://127.0.0.1:9") as client:
        for words in [{"argv": "ls -l"}, {"argv": ["ls"], "outputs": "out.txt"}]:
            with pytest.raises(TypeError, match="lists of words"):
                client.jobs.run(**words)
