"""A machine to operate a server on: a folder in place of `/`, and programs in place of those that change one.

All else is done as it is shown, by the programs that are installed.
"""

import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from motorpool.bench.free_ports import free_server_port
from motorpool.storage.postgres.embedded import binaries

ROOTS = ("etc", "opt", "run", "var")
"""Folders of `/` that are in the folder of the machine."""
ORIGIN = "https://example.org/motorpool"
"""The repository: a copy of this one."""
ADDRESS = "http://localhost:8082"
"""Where the server listens; here at a free port."""
UNPRIVILEGED = "nobody"
"""Has the part of the user of the server where the tests run as root."""
PROGRAMS = {
    # The users of the server and of PostgreSQL; root is whoever runs the tests.
    "sudo": """
        user=root
        while :; do
            case "$1" in
                -u) user=$2; shift 2 ;;
                *=*) export "$1"; shift ;;
                *) break ;;
            esac
        done
        if [ "$user" = motorpool ]; then exec $AS_SERVER "$@"; fi
        exec "$@"
    """,
    "useradd": 'echo "$*" >> "$MACHINE/users"',
    "userdel": 'echo "removed $*" >> "$MACHINE/users"',
    "apt-get": "exit 0",
    "timedatectl": "echo NTPSynchronized=yes",
    # Users and groups of the real machine.
    "install": """
        words=()
        while [ $# -gt 0 ]; do
            case "$1" in
                -o) words+=(-o "$SERVER_USER"); shift 2 ;;
                -g) words+=(-g "$SERVER_GROUP"); shift 2 ;;
                *) words+=("$1"); shift ;;
            esac
        done
        exec /usr/bin/install "${words[@]}"
    """,
    "psql": 'exec "$PSQL" "$ADMINISTRATION" "$@"',
    "journalctl": 'cat "$MACHINE/log"',
    # Of the unit it reads what a server depends on. A unit that ends is not started again.
    "systemctl": r"""
        unit=$MACHINE/etc/systemd/system/motorpool.service
        value() { sed -n "s/^$1=//p" "$unit" | sed -E "s#(^|[= ])/($ROOTS)/#\1$MACHINE/\2/#g"; }
        start() {
            for folder in "$(value WorkingDirectory)" "$MACHINE/run/motorpool"; do
                install -d -m 700 -o motorpool -g motorpool "$folder"
            done
            cd "$(value WorkingDirectory)"
            umask "$(value UMask)"
            mapfile -t settings < <(value Environment)
            env -i PATH="$PATH" "${settings[@]}" $BINDING $AS_SERVER setsid $(value ExecStart) \
                < /dev/null >> "$MACHINE/log" 2>&1 &
            echo $! > "$MACHINE/pid"
        }
        stop() {
            [ -e "$MACHINE/pid" ] || return 0
            kill "$(cat "$MACHINE/pid")"
            tail --pid="$(cat "$MACHINE/pid")" -f /dev/null
            rm -r "$MACHINE/pid" "$MACHINE/run/motorpool"
        }
        case "$*" in
            daemon-reload) ;;
            "start motorpool" | "enable --now motorpool") start ;;
            "stop motorpool" | "disable --now motorpool") stop ;;
            "restart motorpool") stop; start ;;
            "show motorpool --property MemoryCurrent,MemoryMax,LimitNOFILE") value LimitNOFILE ;;
            *) echo "systemctl $*?" >&2; exit 1 ;;
        esac
    """,
}
"""What changes the machine, as shell scripts."""


class Machine:
    """The machine; `environment` is that of its shell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prelude = ""
        """Shell functions of earlier blocks."""
        port = free_server_port()
        self.url = f"http://127.0.0.1:{port}"
        self.osmand_url = f"http://127.0.0.1:{5055 + port}/"
        programs = folder / "programs"
        programs.mkdir()
        for name, script in PROGRAMS.items():
            (programs / name).write_text(f"#!/bin/bash\nset -euo pipefail\n{script}\n")
            (programs / name).chmod(0o755)
        for name in ("etc/systemd/system", "etc/cron.d", "opt", "run", "var/lib", "var/backups", "var/run"):
            (folder / name).mkdir(parents=True)
        (folder / "tmp").mkdir()
        (folder / "tmp").chmod(0o1777)
        as_root = os.geteuid() == 0
        user = pwd.getpwnam(UNPRIVILEGED) if as_root else pwd.getpwuid(os.geteuid())
        self.environment = {
            # As sudo has it: nothing of who runs the tests.
            "PATH": f"{programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "TMPDIR": str(folder / "tmp"),
            "MACHINE": str(folder),
            "ROOTS": "|".join(ROOTS),
            "BINDING": f"MOTORPOOL_BIND=127.0.0.1:{port} MOTORPOOL_PORT_OFFSET={port}"
            " MOTORPOOL_DEVICE_HOST=127.0.0.1",
            "SERVER_USER": str(user.pw_uid),
            "SERVER_GROUP": str(user.pw_gid),
            "AS_SERVER": f"setpriv --reuid={user.pw_uid} --regid={user.pw_gid} --clear-groups"
            if as_root
            else "",
            "PSQL": str(binaries() / "psql"),
        }
        for name, value in os.environ.items():
            # How the package indexes are reached.
            if name.lower().endswith("_proxy") or name.startswith(("PIP_", "NPM_CONFIG_", "SSL_CERT_")):
                self.environment[name] = value

    def translate(self, text: str) -> str:
        """Replace paths and addresses by those of this machine."""
        text = text.replace(ORIGIN, str(self.folder / "origin")).replace(ADDRESS, self.url)
        return re.sub(rf"(?<![\w./-])/(?=(?:{'|'.join(ROOTS)})/)", f"{self.folder}/", text)

    def path(self, name: str) -> Path:
        """Return where an absolute path of the pages is."""
        return Path(self.translate(name))

    def run(self, script: str, *, given: str = "", **environment: str) -> str:
        """Run commands as they are shown, with a standard input; return what they print."""
        script = self.translate(script)
        if re.match(r"\w+\(\) \{\n", script):
            self.prelude += script
            return ""
        done = subprocess.run(
            ["bash", "-c", f"set -euo pipefail\n{self.prelude}\n{script}"],
            cwd=self.folder,
            env={**self.environment, **environment},
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}\n{self.log}"
        return done.stdout

    @property
    def log(self) -> str:
        """What the server has logged."""
        path = self.folder / "log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def stop(self) -> None:
        """Stop the server, if it runs."""
        subprocess.run(
            [self.folder / "programs" / "systemctl", "stop", "motorpool"], env=self.environment, check=True
        )


class Origin:
    """A repository of its own, with the files of this checkout."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        listed = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=root)
        for name in listed.split("\0"):
            if name and (root / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name, follow_symlinks=False)
        self._git("init", "--quiet", "--initial-branch", "main")
        self.commit({})

    def commit(self, changes: Mapping[str, str]) -> None:
        """Commit texts of files, by their names."""
        for name, text in changes.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        self._git("add", "--all")
        who = ("-c", "user.name=Release", "-c", "user.email=release@example.org")
        self._git(*who, "commit", "--quiet", "--message", "Release")

    def read(self, name: str) -> str:
        """Return the text of a file."""
        return (self.folder / name).read_text(encoding="utf-8")

    def _git(self, *words: str, folder: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words], cwd=folder or self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout
