"""Nouns and failures, on a live node."""

import threading

import pytest

from gridbay import ApiError, AsyncClient, Client, GridbayError, Want


def test_the_node_and_its_market(node):
    assert node.node.status()["state"] == "ready"
    classes = [price["class"] for price in node.market.prices()]
    assert classes == ["large", "small"]
    assert any(not offer["own"] for offer in node.offers.list())
    assert node.peers.list()["peers"]
    assert node.ledger.head()["height"] > 0
    assert node.market.quote(Want(class_name="small", seconds=30))["funded"]
    assert node.get("/openapi.json")["openapi"] == "3.1.0"


def test_a_job_with_a_file_each_way(node, want):
    script = "#!/bin/sh\ncat in.txt; echo told >&2; tr a-z A-Z < in.txt > out/loud.txt\n"
    job = node.jobs.run(
        ["sh", "-c", "mkdir out && ./go"],
        want,
        inputs={"go": script.encode(), "in.txt": b"words\n"},
        outputs=["out/loud.txt"],
    )
    record = node.jobs.wait(job["id"], timeout=120)
    assert record["state"] == "done", node.jobs.why(job["id"])
    assert node.jobs.output(job["id"]) == b"words\n"
    assert node.jobs.output(job["id"], stream="stderr") == b"told\n"
    assert node.jobs.file(job["id"], "out/loud.txt") == b"WORDS\n"
    assert record["id"] in [each["id"] for each in node.jobs.list(all=True)]


def test_lists_go_on_by_themselves_from_page_to_page(node, want):
    for n in range(3):
        node.jobs.wait(node.jobs.run(["true"], want, name=f"page-{n}")["id"], timeout=120)
    whole = [job["id"] for job in node.jobs.list(all=True)]
    assert len(whole) >= 3
    assert [job["id"] for job in node.each("/jobs", page=1, all="true")] == whole
    assert [job["id"] for job in node.jobs.each(all=True)] == whole
    assert [offer["offer"] for offer in node.offers.each()] == [
        offer["offer"] for offer in node.offers.list()
    ]
    movements = node.ledger.movements()
    assert next(movements)["height"] >= next(movements)["height"]
    assert all(auction["class"] == "small" for auction in node.auctions.each("small"))


def test_a_refusal_says_what_to_do(node):
    with pytest.raises(ApiError) as caught:
        node.market.quote(Want(class_name="none"))
    error = caught.value
    assert (error.status, error.code) == (404, "not_found")
    assert error.hint and error.message


def test_a_node_that_is_away(tmp_path):
    with Client(tmp_path) as nobody, pytest.raises(GridbayError):
        nobody.node.status()


async def test_the_same_for_asyncio(folder, want):
    async with AsyncClient(folder) as node:
        assert (await node.node.status())["state"] == "ready"
        job = await node.jobs.run(["echo", "words"], want)
        record = await node.jobs.wait(job["id"], timeout=120)
        assert record["state"] == "done"
        assert await node.jobs.output(job["id"]) == b"words\n"
        assert job["id"] in [each["id"] async for each in node.jobs.each(all=True)]


def test_events_tell_of_a_job_and_can_be_taken_up_again(node, want):
    events = node.events()
    # The stream is open once its first event can come.
    job = threading.Timer(1.5, lambda: node.jobs.run(["true"], want, name="told"))
    job.start()
    seen, kinds, done = [], set(), False
    for event in events:
        seen.append(event)
        kinds.add(event.kind)
        of_job = event.kind == "job" and event.data["name"] == "told"
        done = done or (of_job and event.data["state"] == "done")
        # What the job brings about is told as well: its slot is paid after it has ended.
        if done and kinds >= {"order", "clearing", "lease", "payment"}:
            break
    events.close()

    def place(event):
        return int(event.id.rsplit("-", 1)[1])

    # The order of that job is told at the latest behind it.
    assert place(next(node.events(seen[0].id))) == place(seen[0]) + 1
    lost = next(node.events("nowhere-1"))
    assert (lost.kind, lost.data["next"]) == ("reset", lost.id)
