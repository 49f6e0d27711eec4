"""Examples do what they say."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def lines_of(example):
    said = subprocess.run(
        [sys.executable, EXAMPLES / example],
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert said.returncode == 0, said.stderr
    return said.stdout.splitlines()


def test_pi_is_about_three():
    lines = lines_of("pi.py")
    # The market's first class is a dearer one.
    assert lines[1].startswith("large ")
    assert any(line.endswith("of class small as the cheapest") for line in lines), lines
    assert lines[-2].startswith("pi is about 3.1")
    assert "16 calls (0 failed)" in lines[-1]


def test_the_commonest_letters_are_counted_by_dask(networks):
    lines = lines_of("words.py")
    assert lines[:3] == ["' ' 18000", "'t' 10000", "'s' 8000"]
    assert lines[3].startswith("16 parts on 2 nodes: ")
