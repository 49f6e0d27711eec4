"""Packages that travel along. No node is needed."""

import io
import subprocess
import sys
import zipfile

import pytest

from gridbay import GridbayError
from gridbay.luggage import pack


def test_a_package_travels_with_all_that_it_needs(tmp_path):
    packed = pack(["httpx"])
    assert packed == pack(["httpx"])
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert {"httpx/__init__.py", "anyio/__init__.py", "h11/__init__.py"} <= set(names)
    assert not any("/tests/" in name or name.startswith(("/", "..")) for name in names)
    imports = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import httpx; httpx.Client()"
    # Without what is installed here.
    subprocess.run([sys.executable, "-I", "-S", "-c", imports], check=True)


def test_what_cannot_travel_is_told(tmp_path, monkeypatch):
    with pytest.raises(GridbayError, match="pip install no-such-package"):
        pack(["no-such-package"])
    info = tmp_path / "own-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(GridbayError, match="own is not installed as files"):
        pack(["own"])
    (info / "RECORD").write_text("own-1.dist-info/METADATA,,\n")
    (info / "direct_url.json").write_text('{"dir_info": {"editable": true}, "url": "file:///x"}')
    with pytest.raises(GridbayError, match="not as editable"):
        pack(["own"])
