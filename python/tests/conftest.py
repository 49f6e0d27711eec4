"""The live node that the tests speak to: its data folder is in GRIDBAY_DATA, and the other nodes
of its network sell."""

import os
import time
from urllib.parse import urlsplit

import pytest

from gridbay import Client, Executor, Want

#: Seconds that a job of these tests may take.
PATIENCE = 120.0


@pytest.fixture(scope="session")
def folder():
    return os.environ["GRIDBAY_DATA"]


@pytest.fixture
def node(folder):
    with Client(folder) as client:
        yield client


@pytest.fixture(scope="session")
def url(folder):
    """Where the node answers over HTTP."""
    with Client(folder) as client:
        link = urlsplit(client.post("/web/links", {"scope": "read"})["url"])
    return f"http://127.0.0.1:{link.port}"


@pytest.fixture
def want():
    return Want(seconds=30, class_name="small")


@pytest.fixture
def executor(node, want):
    with Executor(node, want=want, ranks=2, patience=PATIENCE) as executor:
        yield executor


@pytest.fixture(scope="session")
def networks(folder):
    """Leaves a test out, and says so, where no node can make a network for jobs."""
    with Client(folder) as client:
        end = time.monotonic() + 60
        while not client.market.find('x.network in ["tun", "veth"]')["fitting"]:
            if time.monotonic() > end:
                pytest.skip("NOT CHECKED: no node of this machine makes networks for jobs")
            time.sleep(1)
