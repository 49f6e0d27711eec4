"""The blocks of the page on this package do what they say: each runs by itself, with what a reader
has at that place."""

import re
from pathlib import Path

import pytest

from gridbay import Client
from gridbay.asks import Ask

PAGE = Path(__file__).parents[2] / "docs" / "python.md"

#: What a reader has written already. Its name is that of a program, so that it travels by value.
READER = """
def work(number):
    return number * number
"""

#: Where the page's node answers.
NODE = "http://node.example:7414"

#: Modules that the page says come with an extra.
EXTRAS = {"dask", "distributed"}


def blocks():
    """Each block with its line, so that a failure names its place."""
    text = PAGE.read_text()
    for found in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, found.start(1)), found[1]


def test_the_page_has_blocks():
    assert len(list(blocks())) >= 3


@pytest.fixture(scope="session")
def token(folder):
    """Of a user of the page's project."""
    with Client(folder) as node:
        node.post("/projects", {"name": "bio", "limits": {"budget": "50"}})
        token = node.post("/users", {"name": "reader"})["token"]
        node.json(Ask("PUT", "/projects/bio/members/reader", body={"role": "member"}))
    return token


@pytest.mark.parametrize(
    "line, code", [pytest.param(*block, id=f"line {block[0]}") for block in blocks()]
)
def test_a_block_runs(line, code, folder, node, url, token):
    offers = node.get("/offers")
    seller = next(offer["account"] for offer in offers if not offer["own"])
    names = {"__name__": "__main__", "node": node, "seller": seller, "token": token}
    code = code.replace(NODE, url)
    exec(READER, names)
    try:
        exec(compile("\n" * line + code, str(PAGE), "exec"), names)
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRAS:
            raise
        pytest.skip(f"NOT CHECKED: {missing.name} is not installed")
    if "results" in names:
        assert names["results"] == [number * number for number in range(1_000)]
    if "record" in names:
        assert names["record"]["state"] == "done", names["record"]
