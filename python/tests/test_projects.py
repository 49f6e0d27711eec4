"""A user of a project: with a token of their own, over HTTP."""

import secrets
from dataclasses import replace

import pytest

from gridbay import ApiError, AsyncClient, Client, Executor
from gridbay.asks import Ask

PATIENCE = 120.0


class Member:
    """A project, and a member of it with these rights."""

    def __init__(self, node, role):
        self.project, self.name = (kind + secrets.token_hex(4) for kind in ("bio-", "ann-"))
        node.post("/projects", {"name": self.project, "limits": {"budget": "20"}})
        self.token = node.post("/users", {"name": self.name})["token"]
        path = f"/projects/{self.project}/members/{self.name}"
        node.json(Ask("PUT", path, body={"role": role}))


@pytest.fixture
def member(node):
    return Member(node, "member")


def test_a_member_sends_jobs_and_calls_that_the_project_pays(node, url, member, want):
    with Client(url=url, token=member.token) as own:
        job = own.jobs.run(["echo", "words"], want, project=member.project)
        record = own.jobs.wait(job["id"], timeout=PATIENCE)
        assert (record["state"], record["project"]) == ("done", member.project)
        assert record["user"] == member.name
        assert own.jobs.output(job["id"]) == b"words\n"
        project = member.project
        with Executor(own, want=want, patience=PATIENCE, project=project) as executor:
            assert executor.submit(sum, [1, 2, 3]).result() == 6
            assert executor.statement().jobs == 1
        assert {each["project"] for each in own.jobs.list(all=True)} == {project}
    assert node.jobs.show(job["id"])["project"] == project


async def test_the_same_for_asyncio(url, member, want):
    async with AsyncClient(url=url, token=member.token) as own:
        job = await own.jobs.run(["true"], want, project=member.project)
        record = await own.jobs.wait(job["id"], timeout=PATIENCE)
        assert (record["state"], record["project"]) == ("done", member.project)


def test_what_is_refused_is_told(node, url, member, want):
    with Client(url=url, token=member.token) as own:
        with pytest.raises(ApiError, match="a job of a user is of a project"):
            own.jobs.run(["true"], want)
        with pytest.raises(ApiError) as caught:
            own.jobs.run(["true"], want, project="of-others")
        assert caught.value.status == 404
        dear = replace(want, budget="50", max_price="5000")
        with Executor(own, want=dear, project=member.project) as executor:
            with pytest.raises(ApiError, match="has 20 left of 20"):
                executor.submit(int).result(PATIENCE)
    reader = Member(node, "reader")
    with Client(url=url, token=reader.token) as own, pytest.raises(ApiError, match="you have reader"):
        own.jobs.run(["true"], want, project=reader.project)
