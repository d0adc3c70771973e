"""Runs PostgreSQL as an unprivileged user: it refuses to run as root (docs/performance.md#postgresql)."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import trio

from motorpool.storage.errors import SetupFailed

USERS = ("motorpool", "postgres", "nobody")
"""Users that are tried in this order if this process runs as root."""
_CHECK_SECONDS = 20.0


@dataclass(frozen=True)
class Identity:
    """A user to run programs as, and the command prefix that switches to that user."""

    prefix: tuple[str, ...] = ()
    """Words to put before the command."""
    user: int = -1
    """The owner of the files that the program writes; -1: owners are not changed."""
    group: int = -1

    def chown(self, path: Path) -> None:
        """Change the owner of a file or folder recursively."""
        if self.user < 0 or not path.exists() or path.stat().st_uid == self.user:
            return
        os.chown(path, self.user, self.group)
        for folder, names, files in os.walk(path):
            for name in names + files:
                os.chown(os.path.join(folder, name), self.user, self.group, follow_symlinks=False)


async def choose_identity(program: Path, folder: Path) -> tuple[Identity, str]:
    """Return an identity that can run `program` and write to `folder`, and the output of `--version`.

    Raises:
        SetupFailed: There is none; the message names the folder that denies access.
    """
    reason = ""
    for identity in _candidates(folder):
        identity.chown(folder)
        check = 'cd "$1" && test -w . && exec "$2" --version'
        result = await run_bounded(
            (*identity.prefix, "sh", "-c", check, "sh", str(folder), str(program)), _CHECK_SECONDS
        )
        if result.returncode == 0:
            return identity, result.stdout.decode(errors="replace").strip()
        reason = (
            reason
            or (result.stderr.decode(errors="replace").strip().splitlines() or ["no error message"])[-1]
        )
    if os.geteuid() == 0:
        raise SetupFailed(
            f"PostgreSQL does not run as root and no other user can enter {_closed_folder(folder, program)}:"
            " start as another user, or open the folder (chmod o+x)"
        )
    raise SetupFailed(f"the embedded PostgreSQL does not start in {folder}: {reason}")


def _candidates(folder: Path) -> list[Identity]:
    if os.geteuid() != 0:
        return [Identity()]
    found = []
    if shutil.which("setpriv"):
        users = [user for name in USERS if (user := _user(name)) is not None]
        owner = folder.stat().st_uid
        # The current owner of the data is tried first.
        users.sort(key=lambda user: user.pw_uid != owner)
        for user in users:
            ids = (f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups")
            found.append(Identity(("setpriv", *ids, "--"), user.pw_uid, user.pw_gid))
    if shutil.which("unshare"):
        # A user namespace that maps root to user 1000, which can still enter the private folders of root.
        found.append(Identity(("unshare", "--user", "--map-user=1000", "--map-group=1000", "--"), 0, 0))
    return found


def _user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _closed_folder(*paths: Path) -> Path:
    for path in paths:
        for folder in reversed(path.resolve().parents):
            if not folder.stat().st_mode & 0o001:
                return folder
    return paths[0]


def child_environment() -> dict[str, str]:
    """Return an environment without the PG… variables and the locale of the user."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


async def run_bounded(command: tuple[str, ...], seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Run a program; kill it and report failure if it takes longer than `seconds`."""
    with trio.move_on_after(seconds):
        return await trio.run_process(
            command, check=False, capture_stdout=True, capture_stderr=True, env=child_environment(), cwd="/"
        )
    return subprocess.CompletedProcess(command, -1, b"", f"timed out after {seconds:.0f} s".encode())
