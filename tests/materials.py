"""The bill of materials of what dpsql itself needs, in CycloneDX's JSON: `make lock` writes it to .ci/bom.cdx.json.

Which packages, and their licences, come from what is installed; their versions and hashes from .ci/lock.txt. Extras are
not in it. The format: https://cyclonedx.org/docs/1.6/json/.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["LOCK", "Locked", "bill", "locked", "needed"]

LOCK = Path(__file__).parents[1] / ".ci" / "lock.txt"
PACKAGE = re.compile(r"^([\w.-]+)==(\S+)(?: ; (.+?))? \\\n((?: +--hash=.*\n?)+)", re.MULTILINE)
"""A line of the lock: name, version, marker; and the lines of hashes below it."""


class Locked(NamedTuple):
    """A package of the lock: a version where the marker, if there is one, holds."""

    version: str
    marker: str
    hashes: tuple[str, ...]


def locked(text: str) -> dict[str, list[Locked]]:
    """The packages of a lock by name; some have several versions, for several versions of Python.

    >>> locked("a-b==1.0 ; python_version < '3.12' \\\\\\n    --hash=sha256:00")
    {'a-b': [Locked(version='1.0', marker="python_version < '3.12'", hashes=('00',))]}
    """
    found: dict[str, list[Locked]] = {}
    for name, version, marker, rest in PACKAGE.findall(text):
        own = Locked(version, marker, tuple(re.findall("sha256:([0-9a-f]+)", rest)))
        found.setdefault(name, []).append(own)
    return found


def needed() -> dict[str, set[str]]:
    """What dpsql needs here without an extra: each package with those that it needs itself."""
    found: dict[str, set[str]] = {}
    left = ["dpsql"]
    while left:
        name = left.pop()
        if name not in found:
            found[name] = _needs(distribution(name))
            left += found[name]
    return found


def bill() -> dict[str, Any]:
    """The document; the same as long as what it tells of is."""
    lock, needs = locked(LOCK.read_text()), needed()
    names = sorted(needs.keys() - {"dpsql"})
    own = {"type": "library", "bom-ref": "dpsql", "name": "dpsql", "version": distribution("dpsql").version}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own | {"licenses": _licences(distribution("dpsql"))}},
        "components": [_component(name, one) for name in names for one in lock[name]],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(other for need in needs[name] for other in _refs(need, lock))}
            for name in ["dpsql", *names]
            for ref in _refs(name, lock)
        ],
    }
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return {**document, "serialNumber": f"urn:uuid:{number}"}


def _needs(of: Distribution) -> set[str]:
    """The names of what a package needs without an extra."""
    asked = map(Requirement, of.requires or ())
    return {canonicalize_name(own.name) for own in asked if own.marker is None or own.marker.evaluate({"extra": ""})}


def _refs(name: str, lock: Mapping[str, list[Locked]]) -> list[str]:
    return [name] if name == "dpsql" else [f"pkg:pypi/{name}@{one.version}" for one in lock[name]]


def _component(name: str, one: Locked) -> dict[str, Any]:
    address = f"pkg:pypi/{name}@{one.version}"
    told = {"type": "library", "bom-ref": address, "name": name, "version": one.version, "purl": address}
    if one.marker:
        told["description"] = f"where {one.marker}"
    return {
        **told,
        "licenses": _licences(distribution(name)),
        "hashes": [{"alg": "SHA-256", "content": own} for own in one.hashes],
    }


def _licences(of: Distribution) -> list[dict[str, Any]]:
    """What a package says of its licence: an SPDX expression, or the name in its classifiers."""
    if expression := of.metadata.get_all("License-Expression"):
        return [{"expression": expression[0]}]
    stated = [own for own in of.metadata.get_all("Classifier") or () if own.startswith("License ::")]
    return [{"license": {"name": own.rpartition(" :: ")[2]}} for own in stated]


if __name__ == "__main__":
    print(json.dumps(bill(), indent=1, sort_keys=True))
