"""Installed packages as one file, to travel along with a job."""

from __future__ import annotations

import io
import json
import zipfile
from importlib import metadata
from pathlib import PurePosixPath
from typing import Iterable, Iterator

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .errors import GridbayError

#: All files have it, so that the same packages are the same bytes, which a node keeps once.
_DATE = (1980, 1, 1, 0, 0, 0)


def pack(names: Iterable[str]) -> bytes:
    """A zip of these distributions, and of all that they need, without their tests."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for distribution in _with_needed(names):
            for path, content in _files(distribution):
                archive.writestr(zipfile.ZipInfo(path, _DATE), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _with_needed(names: Iterable[str]) -> list[metadata.Distribution]:
    found: dict[str, metadata.Distribution] = {}
    left = [(canonicalize_name(name), frozenset[str]()) for name in names]
    seen = set(left)
    while left:
        name, extras = left.pop()
        try:
            distribution = found.setdefault(name, metadata.distribution(name))
        except metadata.PackageNotFoundError:
            why = f"package {name} is not installed here: pip install {name}"
            raise GridbayError(why) from None
        for text in distribution.requires or ():
            needed = Requirement(text)
            marker = needed.marker
            if marker is None or any(marker.evaluate({"extra": e}) for e in extras or {""}):
                of_needed = (canonicalize_name(needed.name), frozenset(needed.extras))
                if of_needed not in seen:
                    seen.add(of_needed)
                    left.append(of_needed)
    return [found[name] for name in sorted(found)]


def _files(distribution: metadata.Distribution) -> Iterator[tuple[str, bytes]]:
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if distribution.files is None or origin.get("dir_info", {}).get("editable"):
        name = distribution.metadata["Name"]
        why = f"package {name} is not installed as files that can travel along"
        raise GridbayError(f"{why}: pip install it, and not as editable")
    for file in sorted(distribution.files):
        path = PurePosixPath(file)
        if path.is_absolute() or {"..", "tests", "__pycache__"} & set(path.parts):
            # Programs, and what nobody imports.
            continue
        place = distribution.locate_file(file)
        with open(place, "rb") as opened:
            yield str(path), opened.read()
