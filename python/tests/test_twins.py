"""The two clients are one: the second is derived from the first."""

import subprocess
import sys
from pathlib import Path


def test_the_twin_is_derived():
    twin = Path(__file__).parent.parent / "twin"
    assert subprocess.run([sys.executable, twin, "--check"]).returncode == 0
