"""A Dask cluster on leased nodes."""

import socket
import subprocess
import sys
import time
from decimal import Decimal

import pytest
from distributed import Client as Dask
from distributed import Security
from distributed.core import rpc

from gridbay import GridbayError
from gridbay.asks import FINAL
from gridbay.dask import Cluster

#: Seconds until a lease that was given up is over.
SOON = 60.0
WORDS = {"class_": "small", "seconds": 600, "trust_workers": True}


pytestmark = pytest.mark.usefixtures("networks")


@pytest.fixture
def words(folder):
    return {"data": folder, **WORDS}


@pytest.fixture(scope="module")
def cluster(folder):
    with Cluster(nodes=4, data=folder, **WORDS) as cluster:
        yield cluster


def over(node, job):
    """The record of a job that ends within a while, and has no lease any more."""
    end = time.monotonic() + SOON
    while time.monotonic() < end:
        record = node.jobs.show(job)
        if record["state"] in FINAL and not any(each["job"] == job for each in node.leases.list()):
            return record
        time.sleep(0.3)
    raise AssertionError(f"job {job} is {record['state']} still")


def part(numbers):
    return sum(number**2 for number in numbers), socket.gethostname()


# A worker reads functions by value: this module is not there.
part.__module__ = "__main__"


def test_a_sum_over_four_ranks_is_the_local_one(cluster):
    assert [len(cluster.scheduler_info["workers"]), cluster.scheduler_address[:16]] == [
        4,
        "tls://127.0.0.1:",
    ]
    numbers = range(1_000)
    with Dask(cluster) as client:
        workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
        assert all(worker.startswith("tls://10.") for worker in workers), workers
        parts = [
            client.submit(part, numbers[rank::4], workers=[worker], pure=False)
            for rank, worker in enumerate(workers)
        ]
        sums, hosts = zip(*client.gather(parts))
        total = client.submit(sum, client.map(pow, numbers, [2] * len(numbers))).result()
    assert total == sum(sums) == part(numbers)[0]
    assert sorted(hosts) == ["rank0", "rank1", "rank2", "rank3"]


def test_the_nodes_of_a_lease_are_fixed(cluster):
    for refused in [lambda: cluster.scale(5), cluster.adapt]:
        with pytest.raises(GridbayError, match="open another Cluster"):
            refused()


def test_the_port_is_of_no_use_to_others(cluster):
    port = cluster.scheduler_address.rsplit(":", 1)[1]
    with Dask(cluster) as client:
        assert client.submit(int).result() == 0
    for address, security in [("tls", Security.temporary()), ("tcp", Security())]:
        words = security.get_connection_args("client")

        async def ask():
            async with rpc(f"{address}://127.0.0.1:{port}", connection_args=words) as there:
                return await there.identity()

        with pytest.raises(OSError):
            cluster.sync(ask, callback_timeout=20)
    # Of this machine's addresses it is at one alone.
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", int(port)), 5)


def test_a_body_that_fails_gives_the_lease_up(node, words):
    with pytest.raises(KeyError):
        with Cluster(**words) as cluster:
            assert node.jobs.show(cluster.job)["state"] == "running"
            raise KeyError("body")
    record = over(node, cluster.job)
    assert record["state"] == "cancelled"
    assert cluster.paid == Decimal(record["paid"]) > 0


async def test_the_same_for_asyncio(node, words):
    async with Cluster(nodes=2, asynchronous=True, **words) as cluster:
        async with Dask(cluster, asynchronous=True) as client:
            assert await client.submit(sum, [1, 2, 3]) == 6
    assert over(node, cluster.job)["state"] == "cancelled"


#: A program of one's own, with a cluster that it does not close.
PROGRAM = """
import os, sys, time
import gridbay.dask
gridbay.dask.ABANDONED = 15.0
cluster = gridbay.dask.Cluster(**{words!r})
print(cluster.job, flush=True)
sys.stdin.readline()
"""
#: A child that ends does not end what is its parent's.
FORKS = """
if os.fork() == 0:
    sys.exit()
os.wait()
print("alone", flush=True)
sys.stdin.readline()
1 / 0
"""


def run(words, more):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM.format(words=words) + more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_process_that_ends_gives_the_lease_up(node, words):
    with run(words, FORKS) as program:
        job = program.stdout.readline().strip()
        program.stdin.write("\n")
        program.stdin.flush()
        assert program.stdout.readline() == "alone\n"
        assert node.jobs.show(job)["state"] == "running"
        said = program.communicate("\n", timeout=SOON)[1]
    assert "ZeroDivisionError" in said
    assert over(node, job)["state"] == "cancelled"


def test_a_cluster_whose_process_was_killed_ends_by_itself(node, words):
    with run({**words, "nodes": 2}, "") as program:
        job = program.stdout.readline().strip()
        # Longer than a cluster lives of which nothing is heard.
        time.sleep(25)
        assert node.jobs.show(job)["state"] == "running"
        program.kill()
    record = over(node, job)
    assert record["state"] == "done"
    assert [each["exit"] for each in record["exits"]] == [{"code": 0}] * 2
    assert b"nothing was heard" in node.jobs.output(job, stream="stderr")


def test_a_cluster_that_does_not_come_is_given_up(node, words):
    known = {job["id"] for job in node.jobs.list(all=True)}
    with pytest.raises(GridbayError, match="no Dask cluster within 3 s"):
        Cluster(patience=3, **words)
    for job in node.jobs.list(all=True):
        assert job["id"] in known or over(node, job["id"])["state"] == "cancelled"


def test_what_cannot_be_is_refused_before_anything_is_ordered(node, words):
    before = node.jobs.list(all=True)
    with pytest.raises(ValueError, match="trust_workers=True"):
        Cluster(**{**words, "trust_workers": False})
    with pytest.raises(ValueError, match="at least one node"):
        Cluster(0, **words)
    with pytest.raises(GridbayError, match="pip install no-such-package"):
        Cluster(packages=["no-such-package"], **words)
    assert node.jobs.list(all=True) == before


def test_nodes_without_such_a_python_are_told_of(node, words):
    with pytest.raises(GridbayError, match="python-that-is-nowhere|is failed"):
        Cluster(python="python-that-is-nowhere", **words)


def test_without_the_extra_it_is_said_what_to_install():
    tries = "import sys; sys.modules['distributed'] = None; import gridbay, gridbay.dask"
    told = subprocess.run([sys.executable, "-c", tries], capture_output=True, text=True)
    last = told.stderr.splitlines()[-1]
    assert last.startswith("ImportError") and "pip install 'gridbay[dask]'" in last
