"""Bytes of strangers, without a node."""

import os
import pickle
import subprocess
import sys

import cloudpickle
import pytest

from gridbay.errors import GridbayError, RemoteError, UnsafeResult
from gridbay.results import of_batch, plain, value

LARGE = 1 << 26
LARGE_NUMBER = (1 << 20).to_bytes(4, "little") + b"\x01" * (1 << 20)
#: Reads a result, and fails if that takes more memory than is here without it.
BOUNDED = """
import resource, sys
from gridbay.errors import UnsafeResult
from gridbay.results import plain

content = sys.stdin.buffer.read()
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    plain(content)
except UnsafeResult:
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert taken < 20_000, f"{taken} KiB"
else:
    raise AssertionError("it was read")
"""


@pytest.mark.parametrize(
    "data",
    [
        *[None, True, 1 << 70, 1.5, 2j, "a", b"b", [1], (1, 2), {"a": {1, 2}}, frozenset([3])],
        *[range(3), slice(1, 2), bytearray(b"c")],
    ],
)
def test_plain_data_comes_through(data):
    # As nodes send it.
    assert plain(cloudpickle.dumps(data)) == data


class Made:
    """Pickles as a call where it is read."""

    def __init__(self, function, *arguments):
        self.made = function, arguments

    def __reduce__(self):
        return self.made


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(Made(os.system, "true")),
        pickle.dumps(os.system),
        pickle.dumps(ValueError("x")),
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"",
        b"garbage",
    ],
)
def test_all_else_is_refused(content):
    with pytest.raises(UnsafeResult):
        plain(content)


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(Made(bytearray, LARGE)),
        pickle.dumps(Made(set, range(LARGE))),
        pickle.dumps(Made(frozenset, range(LARGE))),
        # A place in the memo, and the length of a bytearray.
        b"\x80\x05Nr" + (LARGE // 16).to_bytes(4, "little") + b".",
        b"\x80\x05Np%d\n." % (LARGE // 16),
        b"\x80\x05\x96" + LARGE.to_bytes(8, "little") + b".",
    ],
)
def test_few_bytes_take_little_memory(content):
    told = subprocess.run([sys.executable, "-c", BOUNDED], input=content, capture_output=True)
    assert told.returncode == 0, told.stderr.decode()
    with pytest.raises(UnsafeResult):
        of_batch(content, 0, 1, 1)


#: A tuple that holds the one before it twice, thirty times over: a billion steps to hash it.
WIDE = b"K\x01" + b"2\x86" * 30
#: A tuple within a million others: to hash it overflows the stack.
DEEP = b")" + b"\x85" * 1_000_000
#: Two sets of sets that are equal, and to be compared in a billion steps.
EQUAL = b"(" + 2 * (b"(K\x01\x91(K\x02\x91" + b"".join(
    b"q%c0q%c0(h%ch%c\x91(h%ch%cK\x00\x91" % (1, 2, 2, 1, 2, 1) for _ in range(30)
) + b"0") + b"\x91"


@pytest.mark.parametrize(
    "body",
    [
        WIDE,
        b"}" + WIDE + b"Ns",
        b"}(K\x01N" + WIDE + b"Nu",
        b"(" + WIDE + b"Nd",
        b"\x8f(" + WIDE + b"\x90",
        b"(" + WIDE + b"\x91",
        b"}(]" + WIDE + b"q\x000h\x00Nu",
        b"}" + DEEP + b"Ns",
        EQUAL,
        # A number of a mebibyte, hashed a thousand times.
        b"}\x8b" + LARGE_NUMBER + b"q\x00Ns" + b"h\x00Ns" * 1_000,
    ],
    ids="wide setitem setitems dict additems frozenset memo deep equal number".split(),
)
def test_what_takes_for_ever_is_refused_before_it_is_read(body):
    content = b"\x80\x04" + body + b"."
    reads = "import sys; from gridbay.results import plain; plain(sys.stdin.buffer.read())"
    told = subprocess.run(
        [sys.executable, "-c", reads], input=content, capture_output=True, timeout=10
    )
    assert told.returncode == 1, told.returncode
    assert b"tuples within tuples" in told.stderr.splitlines()[-1], told.stderr.decode()


@pytest.mark.parametrize("steps", [b"0", b"\x85", b"(2", b"h\x00", b"t", b"}Ns", b"(s", b"(q\x00"])
def test_steps_without_their_objects_are_no_result(steps):
    with pytest.raises(UnsafeResult):
        plain(b"\x80\x04" + steps + b".")


def test_shared_and_nested_data_comes_through():
    row = tuple(range(1_000))
    table = (row,) * 1_000
    deep = ()
    for _ in range(400):
        deep = (deep,)
    data = {
        table: {row: [row] * 9, frozenset([row]): {row, deep}},
        "list": [[table, table]] * 3,
        1 << 9_999: ((1, 2), (3, 4, 5), {6: {7}}),
    }
    assert plain(cloudpickle.dumps(data)) == data
    assert plain(pickle.dumps(data, 4)) == data


def test_a_rank_answers_for_its_own_calls():
    rows = [(1, True, b"x"), (3, False, b"y")]
    assert of_batch(pickle.dumps(rows), 1, 2, 4) == {1: (True, b"x"), 3: (False, b"y")}
    strange = [(0, True, b"x"), *rows]
    text = [(1, True, "x"), rows[1]]
    for wrong in [rows[:1], rows + rows[:1], strange, {}, text]:
        with pytest.raises(UnsafeResult):
            of_batch(pickle.dumps(wrong), 1, 2, 4)


def test_failures_are_told():
    with pytest.raises(RemoteError, match="KeyError: 'a'"):
        value(False, pickle.dumps(("KeyError", "'a'", "trace")), False)
    with pytest.raises(UnsafeResult):
        value(False, pickle.dumps(["no", "triple"]), True)


def test_words_of_strangers_steer_no_terminal():
    words = "a\x1b[2J\u202e\x9b1m\td\n"
    with pytest.raises(RemoteError) as caught:
        value(False, pickle.dumps((words, words, words)), False)
    told = "a\ufffd[2J\ufffd\ufffd1m\td\n"
    assert (str(caught.value), caught.value.kind) == (f"{told}: {told}", told)
    assert caught.value.trace == told
    assert str(GridbayError(words)) == told
    strange = b"cos\n\x1b[2J\n."
    with pytest.raises(UnsafeResult) as caught:
        plain(strange)
    assert "\x1b" not in str(caught.value)
