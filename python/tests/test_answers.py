"""Answers that are lost, from nodes that are none."""

import json
import socket
import threading

import pytest

from gridbay import ApiError, AsyncClient, Client, GridbayError

DONE = b'{"height": 1}'
SLOW = json.dumps({"code": "timeout", "message": "no block", "hint": "see", "details": None})


def answer(status, body):
    head = f"HTTP/1.1 {status} x\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


class Broken:
    """Takes requests over TCP, and gives these answers; for `None` it breaks off."""

    def __init__(self, *answers):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.heads, self.answers = [], answers
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        for each in self.answers:
            with self.listener.accept()[0] as peer:
                read = b""
                while b"\r\n\r\n" not in read:
                    read += peer.recv(65_536)
                self.heads.append(read.split(b"\r\n\r\n")[0].decode().lower())
                if each is not None:
                    peer.sendall(each)
        self.listener.close()

    def keys(self):
        self.thread.join(10)
        lines = [line for head in self.heads for line in head.split("\r\n")]
        return [line.split(": ")[1] for line in lines if line.startswith("idempotency-key: ")]


def test_a_lost_answer_is_asked_for_again_under_its_key():
    there = Broken(None, answer(200, DONE))
    with Client(url=there.url) as node:
        assert node.ledger.transfer("b", "1") == {"height": 1}
    first, second = there.keys()
    assert first == second


async def test_the_same_for_asyncio():
    there = Broken(None, answer(200, DONE))
    async with AsyncClient(url=there.url) as node:
        assert await node.ledger.transfer("b", "1", key="own-key-1") == {"height": 1}
    assert there.keys() == ["own-key-1"] * 2


def test_who_gets_no_answer_gets_the_key_to_repeat_with():
    there = Broken(None, None)
    with Client(url=there.url) as node:
        with pytest.raises(GridbayError, match="is not known whether") as caught:
            node.ledger.transfer("b", "1")
    assert there.keys() == [caught.value.key] * 2
    assert repr(caught.value.key) in str(caught.value)


def test_a_slow_node_is_not_asked_twice():
    there = Broken(answer(200, DONE)[:10])
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Client(url=url, timeout=0.2) as node, pytest.raises(GridbayError) as caught:
            node.jobs.run(["true"], key="own-key-2")
        silent.accept()[0].close()
        silent.settimeout(0.2)
        with pytest.raises(TimeoutError):
            silent.accept()
    assert caught.value.key == "own-key-2" and "own-key-2" in str(caught.value)
    with Client(url=there.url) as node, pytest.raises(GridbayError):
        node.node.status()
    assert there.keys() == [] and len(there.heads) == 1


def test_a_refusal_has_its_key_and_a_node_that_is_away_did_nothing(tmp_path):
    there = Broken(answer(504, SLOW.encode()))
    with Client(url=there.url) as node, pytest.raises(ApiError) as caught:
        node.post("/ledger/close", {}, key="own-key-3")
    assert (caught.value.code, caught.value.key) == ("timeout", "own-key-3")
    with Client(tmp_path) as nobody, pytest.raises(GridbayError) as caught:
        nobody.ledger.transfer("b", "1")
    assert "is not known" not in str(caught.value)


def test_a_stream_without_an_event_is_taken_up_at_its_place():
    head = b"HTTP/1.1 200 x\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    there = Broken(head + b"id: ab-7\n\n", head + b"id: ab-8\nevent: peer\ndata: {}\n\n")
    with Client(url=there.url) as node:
        event = next(node.events())
    assert (event.id, event.kind) == ("ab-8", "peer")
    there.thread.join(10)
    assert [("last-event-id: ab-7" in head) for head in there.heads] == [False, True]


async def test_no_proxy_of_the_environment_is_told_the_token(monkeypatch):
    proxy = Broken()
    for name in ["http_proxy", "https_proxy", "all_proxy"]:
        monkeypatch.setenv(name, proxy.url)
    monkeypatch.delenv("no_proxy", raising=False)
    there = Broken(answer(200, b"{}"), answer(200, b"{}"))
    with Client(url=there.url, token="a-token") as node:
        assert node.node.status() == {}
    async with AsyncClient(url=there.url, token="a-token") as node:
        assert await node.node.status() == {}
    there.thread.join(10)
    assert all("authorization: bearer a-token" in head for head in there.heads)
    assert len(there.heads) == 2
