"""Examples do what they say."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_pi_is_about_three():
    said = subprocess.run(
        [sys.executable, EXAMPLES / "pi.py"],
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert said.returncode == 0, said.stderr
    lines = said.stdout.splitlines()
    # The market's first class is a dearer one.
    assert lines[1].startswith("large ")
    assert any(line.endswith("of class small as the cheapest") for line in lines), said.stdout
    assert lines[-2].startswith("pi is about 3.1")
    assert "16 calls (0 failed)" in lines[-1]
