"""The live node that the tests speak to: its data folder is in GRIDBAY_DATA, and the other nodes
of its network sell."""

import os

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


@pytest.fixture
def want():
    return Want(seconds=30, class_name="small")


@pytest.fixture
def executor(node, want):
    with Executor(node, want=want, ranks=2, patience=PATIENCE) as executor:
        yield executor
