"""Examples do what they say."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_pi_is_about_three():
    said = subprocess.run(
        [sys.executable, EXAMPLES / "pi.py"],
        env={**os.environ, "GRIDBAY_CLASS": "small"},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert said.returncode == 0, said.stderr
    lines = said.stdout.splitlines()
    assert lines[-2].startswith("pi is about 3.1")
    assert "16 calls (0 failed)" in lines[-1]
