"""Who runs the servers, and where the files lie that this user must read.

PostgreSQL refuses to run as root, so root hands both servers to an unprivileged user. That user
cannot enter a home of mode 0700, where the project may well lie: then data and binaries go to a
place that it can enter, and the project's folder links there.
"""

import hashlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from annotation_app.embedded.errors import ServersError
from annotation_app.processes import User, as_user

NOBODY = User(uid=65534, gid=65534)
OPEN_PLACE = Path("/var/lib/annotation-app")


def server_user(folder: Path) -> User | None:
    """The user to change to; None when the servers can run as whoever we are."""
    data = folder / "postgres"
    owner = User(data.stat().st_uid, data.stat().st_gid) if data.exists() else None
    if os.geteuid() == 0:
        return owner if owner and owner.uid != 0 else NOBODY
    if owner and owner.uid != os.geteuid():
        raise ServersError(
            f"{data} belongs to another user, perhaps because root made it. Start this as that "
            "user again, or move the folder away."
        )
    return None


def can_use(user: User | None, path: Path) -> bool:
    """Whether the user may enter the folder or run the file."""
    if user is None:
        return os.access(path, os.X_OK)
    answer = subprocess.run(
        ["/bin/sh", "-c", 'test -x "$0"', path], cwd="/", check=False, **as_user(user)
    )
    return answer.returncode == 0


@contextmanager
def place_for_data(folder: Path, user: User | None, *, keep: bool) -> Iterator[Path]:
    """The folder itself, or one that the user can enter, to which links in the folder lead."""
    if user is None or can_use(user, folder):
        yield folder
        return
    name = hashlib.sha256(bytes(folder)).hexdigest()[:16]
    is_new = not (OPEN_PLACE / name).exists()
    place = open_place(name)
    for data in ("postgres", "valkey"):
        _link(folder / data, place / data)
    try:
        yield place
    finally:
        if is_new and not keep:
            shutil.rmtree(place)


def open_place(name: str) -> Path:
    place = OPEN_PLACE / name
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ServersError(
            f"As root, the servers run as the user {NOBODY.uid}, who cannot enter this folder, "
            f"and {place} cannot be made for them: {error.strerror}. Run this as another user, or "
            "from a folder that everybody may enter."
        ) from error
    for folder in (OPEN_PLACE, place):
        folder.chmod(0o755)
    return place


def make_own_folder(folder: Path, user: User | None) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    if user is not None:
        os.chown(folder, user.uid, user.gid)


def write_private(path: Path, text: str, user: User | None = None) -> None:
    """Whole or not at all, and never readable for others, not even for a moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    if user is not None:
        os.chown(unfinished, user.uid, user.gid)
    unfinished.replace(path)


def local_secret(path: Path) -> str:
    """A secret that belongs to this copy of the project, made up the first time."""
    if not path.exists():
        write_private(path, secrets.token_hex(32))
    return path.read_text().strip()


def _link(link: Path, target: Path) -> None:
    if link.is_symlink():
        link.unlink()
    elif link.exists():
        raise ServersError(
            f"{link} was made by a user other than root, and the servers cannot enter it when "
            "root starts them. Start them as that user again, or move it away."
        )
    link.symlink_to(target)
