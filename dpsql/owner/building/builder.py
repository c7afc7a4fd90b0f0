"""Building a version of the bounded tables: the parent's side. The work is done in `owner_process`."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.engine.log import OPERATOR
from dpsql.errors import OperationalError
from dpsql.ledger.folders import held, make_private, sync, write_whole
from dpsql.owner.engines import sources
from dpsql.owner.in_use import LOCK, to_remove
from dpsql.owner.jobs import Progress, in_owner_process
from dpsql.owner.scratch import writable
from dpsql.owner.shape import RECORD, Shape, shape_of
from dpsql.worker import wire

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = [
    "FACTS",
    "alone",
    "build",
    "counted",
    "data_digest",
    "data_digest_of",
    "fingerprint",
    "newest_versions",
    "unchanged",
    "version_directory",
]

FACTS = "facts.json"
KEPT = 2
"""Versions that are kept, beside those that somebody uses: the one built, and the one that the ledger may still name if
all ends before it is recorded."""

PATIENCE = 3600.0  # Seconds to wait for another process that builds. It is a choice: ten times what 10^8 rows take.


def version_directory(directory: Path, version: int) -> Path:
    """Where a version lies."""
    return directory / f"v{version}"


def build(policy: Policy, *, key: bytes, version: int, directory: Path, progress: Progress | None = None) -> None:
    """Builds one version of the bounded tables, or leaves everything as it was. To be done under `alone`.

    A table whose store numbers its versions is read at the one that is the newest when this begins.

    Args:
        policy: What to build, and where the source is.
        key: The contribution key: secret, the same for all versions under one ledger.
        version: The table version; one that exists is replaced.
        directory: A private directory; made with mode 0700 if it is not there.
        progress: Told each public step and the share done, from 0 to 1.

    Raises:
        PolicyError: If the policy and the schema of the data disagree.
        OperationalError: If the data change meanwhile, or anything else fails; details go to the owner's log.
    """
    shape = shape_of(policy)
    at = newest_versions(shape)
    fixed = shape.at(at)
    with writable(directory), _building(directory) as scratch:
        made = scratch / "made"
        made.mkdir(mode=0o700)
        before = fingerprint(fixed)
        records = _records(directory, version)
        if shape.classes is not None and records is None:
            OPERATOR.warning("the record of classes is lost: every unit is of class %r now", shape.classes.strictest)
        request = {"job": "build", "shape": fixed.message(), "key": key.hex(), "into": str(made), "records": records}
        request["before"] = _before(directory)
        made_of = in_owner_process(request, progress)
        if fingerprint(fixed) != before:
            raise OperationalError("The data changed while the bounded tables were built. Run dpsql refresh again.")
        facts = {"version": version, "shape": shape.digest, "sources": before, "at": at, **made_of}
        shutil.rmtree(made / "spill", ignore_errors=True)
        (made / FACTS).write_bytes(wire.encode(facts))
        (made / LOCK).touch()
        for file in made.iterdir():
            file.chmod(0o600)
            sync(file)
        sync(made)
        target = version_directory(directory, version)
        if target.exists():
            target.rename(scratch / "replaced")
        made.rename(target)
        sync(directory)
        _forget_old(directory, version)


def counted(
    shape: Shape, *, key: bytes, directory: Path, stage: str, heavy: bool, progress: Progress | None = None
) -> Any:
    """The exact counts of a stage of facts (`measure.measured`), from the data as they are. To be done under `alone`.

    Raises:
        PolicyError, OperationalError: As `build`.
    """
    with writable(directory), _building(directory) as scratch:
        request = {"job": "measure", "shape": shape.message(), "key": key.hex(), "into": str(scratch)}
        return in_owner_process({**request, "stage": stage, "heavy": heavy}, progress)


def data_digest(shape: Shape) -> str:
    """A hash of the content of the sources: data of another one changed, those of the same did not."""
    return _digest(in_owner_process({"job": "contents", "shape": shape.message()}, None))


def data_digest_of(directory: Path, version: int) -> str | None:
    """The same of the data that a version was built from; None where the version is not there."""
    try:
        facts = wire.decode((version_directory(directory, version) / FACTS).read_bytes())
    except FileNotFoundError:
        return None
    return _digest(facts["contents"]) if "contents" in facts else None


def _digest(contents: Any) -> str:
    return hashlib.sha256(wire.encode(contents)).hexdigest()


def unchanged(shape: Shape, facts: Mapping[str, Any], place: Path) -> bool:
    """Whether the sources are what a version was built from; times that are new without a change are noted there.

    Args:
        shape: Of the policy.
        facts: Of the version.
        place: Its directory.

    Raises:
        OperationalError: If the sources cannot be read.
    """
    now = fingerprint(shape)
    if now == facts["sources"]:
        return True
    if "contents" not in facts or not sources(shape.engine).may_be_equal(now, facts["sources"]):
        return False
    if in_owner_process({"job": "contents", "shape": shape.message()}, None) != facts["contents"]:
        return False
    if fingerprint(shape) == now:  # else somebody writes to them: the next opening looks again
        with suppress(OSError):
            write_whole(place / FACTS, wire.encode({**facts, "sources": now}))
    return True


def newest_versions(shape: Shape) -> dict[str, str]:
    """What names the newest version of each table whose store numbers them, by what its database calls the table."""
    own = sources(shape.engine)
    if own.opens(shape.files):
        return dict(in_owner_process({"job": "versions", "shape": shape.message()}, None))
    return dict(own.versions(shape.source, shape.files))


def fingerprint(shape: Shape) -> Any:
    """What surely is another one when the sources changed."""
    return sources(shape.engine).fingerprint(shape.source, shape.files)


@contextmanager
def alone(directory: Path, progress: Progress | None = None) -> Iterator[None]:
    """Holds the directory's lock, once whoever holds it is done; what a killed build left behind is removed.

    Whoever reads the current version, builds the next one and puts it on record does all three under this lock.

    Raises:
        OperationalError: If another process holds it for too long.
    """

    def waiting() -> None:
        if progress is not None:
            progress("waiting for another process that builds", 0.0)

    with ExitStack() as stack:
        try:
            with writable(directory):
                make_private(directory)
                stack.enter_context(held(directory / ".lock", patience=PATIENCE, waiting=waiting))
        except TimeoutError:
            raise OperationalError(
                "The bounded tables have been in the making by another process for an hour. See what became of it."
            ) from None
        for left in directory.glob(".building-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


@contextmanager
def _building(directory: Path) -> Iterator[Path]:
    make_private(directory)
    directory.chmod(0o700)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=directory) as scratch:
        yield Path(scratch)


def _records(directory: Path, version: int) -> list[str] | None:
    """The records of classes from which that of a version is made; None where they are lost.

    Version 1 needs none. Any other needs that of the version before it, or of a later one: a build that ended before
    it was recorded, or what a ledger brought back from a backup no longer knows of. They all hold.
    """
    found = {int(place.name[1:]): str(place / RECORD) for place in _versions(directory) if (place / RECORD).is_file()}
    return list(found.values()) if max(found, default=0) >= version - 1 else None


def _before(directory: Path) -> dict[str, Any] | None:
    """The newest version that is there: its place, what its tables were made of, of which files, and public facts."""
    for place in sorted(_versions(directory), key=lambda place: int(place.name[1:]), reverse=True):
        with suppress(OSError, ValueError, KeyError, TypeError):  # a damaged one tells nothing
            facts = wire.decode((place / FACTS).read_bytes())
            kept = {name: facts[name] for name in ("recipes", "public")}
            return {"place": str(place), "files": facts.get("files", {}), **kept}
    return None


def _versions(directory: Path) -> list[Path]:
    """The directories of the versions that are there."""
    return [place for place in directory.glob("v*") if place.name[1:].isdigit()]


def _forget_old(directory: Path, version: int) -> None:
    """Removes old versions that nobody uses; those in use are left to the builds to come."""
    for old in _versions(directory):
        held = to_remove(old) if int(old.name[1:]) <= version - KEPT else None
        if held is not None:
            with held:
                shutil.rmtree(old, ignore_errors=True)
