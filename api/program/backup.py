"""`motorpool backup` and `motorpool restore`: all data of a server in one file (docs/decisions/0004)."""

import os
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

import trio

from motorpool.actors.words.record_json import format_time
from motorpool.api.exports.backup_archive import (
    DUMP,
    FILES,
    FOLDERS,
    ArchiveDamaged,
    ArchiveWriter,
    Manifest,
    VerifiedArchive,
    files_of,
    is_of_dump,
    open_file,
)
from motorpool.api.program.configured_database import run_embedded
from motorpool.api.program.errors import StartFailed, error_line
from motorpool.api.settings import Settings
from motorpool.api.version import program_version
from motorpool.runtime import SystemClock
from motorpool.storage.database import encryption_keys, migrations
from motorpool.storage.database.encryption_keys import FILE as KEY_FILE
from motorpool.storage.durable_files import move_into_place, sync_folder
from motorpool.storage.errors import AlreadyRunning, SetupFailed, StorageError
from motorpool.storage.postgres import dumps
from motorpool.storage.postgres.requirements import major_version

WORK = ".restoring"
"""Folder in the data folder that holds the files until the database is restored."""
CHUNK_BYTES = 256 * 1024

HAS_TABLES = "select exists (select from pg_tables where schemaname = 'public')"
HAS_OUR_TABLES = "select to_regclass('public.schema_migrations') is not null"
SCHEMA = "select max(number) from public.schema_migrations"
HAS_ROWS = "select exists (select from public.users) or exists (select from public.devices)"
ENCRYPTION_KEYS = "select coalesce(string_agg(id, ',' order by id), '') from public.encryption_keys"
HAS_ENCRYPTION_KEYS = "select to_regclass('public.encryption_keys') is not null"
SERVERS = (
    "select count(*) from pg_stat_activity"
    " where datname = current_database() and application_name = 'motorpool'"
)


async def back_up(settings: Settings, file: Path, *, with_key: bool = True) -> str:
    """Write a backup, whether or not the server runs; return a summary.

    `with_key` includes the file of keys in the data folder, without which the secrets in it cannot be read.
    Raises StartFailed.
    """
    try:
        if settings.database == "embedded" and not (settings.data / "postgres").exists():
            raise SetupFailed(f"there is no database in {settings.data}")
        async with _database_to_read(settings) as url:
            return await trio.to_thread.run_sync(partial(_write, settings, url, file, with_key=with_key))
    except (StorageError, OSError) as error:
        raise StartFailed(error_line(error)) from error


async def restore(settings: Settings, file: Path, *, force: bool, without_key: bool = False) -> str:
    """Restore a backup and return a summary.

    Without `force` the database must be empty, and without `without_key` the keys of its secrets must be
    there. Nothing is changed before the database has taken everything. Raises StartFailed.
    """
    try:
        archive = await trio.to_thread.run_sync(_verify, file)
        if not without_key:
            await trio.to_thread.run_sync(_require_keys, settings, archive)
        kept = []
        if settings.database == "embedded":
            older = await dumps.move_incompatible_cluster(settings.data)
            if older is not None:
                kept.append(str(older))
        async with _database_to_write(settings) as url:
            kept += await trio.to_thread.run_sync(partial(_replace, settings, url, archive, force=force))
    except ArchiveDamaged as error:
        raise StartFailed(str(error)) from error
    except (StorageError, OSError) as error:
        raise StartFailed(error_line(error)) from error
    summary = f"restored from {file}: {_summary(archive.manifest)}"
    return summary + (f"; what was there before is kept in {', '.join(kept)}" if kept else "")


@asynccontextmanager
async def _database_to_read(settings: Settings) -> AsyncIterator[str]:
    """Yield the URL of the running database server, or start one for the body."""
    if settings.database != "embedded":
        yield settings.database
        return
    async with AsyncExitStack() as stack:
        try:
            server = await stack.enter_async_context(run_embedded(settings))
        except AlreadyRunning:
            yield dumps.running_url(settings.data)
        else:
            yield server.url(dumps.DATABASE)


@asynccontextmanager
async def _database_to_write(settings: Settings) -> AsyncIterator[str]:
    """Yield the URL of the database, created if missing; no server may be using it."""
    if settings.database != "embedded":
        servers = await trio.to_thread.run_sync(dumps.query, settings.database, SERVERS)
        if servers != "0":
            raise SetupFailed(f"a server is using the database ({servers} connections): stop it first")
        yield settings.database
        return
    async with run_embedded(settings) as server:
        await trio.to_thread.run_sync(_create_database, server.url())
        yield server.url(dumps.DATABASE)


def _create_database(url: str) -> None:
    sql = f"select exists (select from pg_database where datname = '{dumps.DATABASE}')"  # noqa: S608 - our own name
    if dumps.query(url, sql) != "t":
        dumps.query(url, f"create database {dumps.DATABASE}")


def _write(settings: Settings, url: str, file: Path, *, with_key: bool) -> str:
    version = dumps.server_version(url)
    if major_version(version) > major_version(dumps.program_version()):
        raise SetupFailed(
            f"the database server is PostgreSQL {version}, which pg_dump {dumps.program_version()} of this"
            " release cannot read: back up with the pg_dump of that server"
        )
    if dumps.query(url, HAS_OUR_TABLES) != "t":
        raise SetupFailed("the database has no tables of Motorpool: there is nothing to back up")
    manifest = Manifest(
        program=program_version(),
        schema=int(dumps.query(url, SCHEMA)),
        postgres=version,
        made=format_time(SystemClock().now()),
        encryption_keys=_encryption_keys(url),
    )
    part = file.with_name(f".{file.name}.part")
    try:
        with _create_private(part) as opened:
            archive = ArchiveWriter(opened)
            with archive.member(DUMP) as member:
                dumps.dump(url, member.write)
            # After the dump, so that every file named in it is included.
            for name, path in files_of(settings.data):
                if with_key or name != KEY_FILE:
                    _add(archive, name, path)
            manifest = archive.finish(manifest)
            opened.flush()
            os.fsync(opened.fileno())
        move_into_place(part, file)
    finally:
        part.unlink(missing_ok=True)
    return f"wrote {file}: {_summary(manifest)}{_about_keys(manifest, settings.data)}"


def _encryption_keys(url: str) -> tuple[str, ...]:
    """Return the ids of the keys of the secrets in a database; earlier releases had none."""
    if dumps.query(url, HAS_ENCRYPTION_KEYS) != "t":
        return ()
    return tuple(filter(None, dumps.query(url, ENCRYPTION_KEYS).split(",")))


def _about_keys(manifest: Manifest, data: Path) -> str:
    found = {key.id for key in encryption_keys.read_keys((), data)} if KEY_FILE in manifest.files else set()
    missing = set(manifest.encryption_keys) - found
    if missing:
        return f"; the key of its secrets, {_names(missing)}, is not in it: keep that too"
    return f"; it has the key of its secrets, {KEY_FILE}: guard it as the server itself" if found else ""


def _names(key_ids: Iterable[str]) -> str:
    return " and ".join(sorted(key_ids))


def _require_keys(settings: Settings, archive: VerifiedArchive) -> None:
    """Raise SetupFailed unless the keys of the secrets in the database will be there once it is restored."""
    keys = encryption_keys.read_keys(settings.encryption.keys, settings.data)
    if KEY_FILE in archive.names:
        content = b"".join(archive.chunks(KEY_FILE)).decode("utf-8", "replace")
        keys += encryption_keys.parse_file(content, KEY_FILE)
    missing = set(archive.manifest.encryption_keys).difference(key.id for key in keys)
    if missing:
        raise SetupFailed(
            f"secrets in the backup are encrypted with the key {_names(missing)}, which is not here: put it"
            f" into {encryption_keys.WHERE}, or restore with --without-key, then `motorpool forget-secrets`"
        )


def _create_private(path: Path) -> BinaryIO:
    path.unlink(missing_ok=True)
    # It contains keys and password hashes.
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b")


def _add(archive: ArchiveWriter, name: str, path: Path) -> None:
    if (opened := open_file(path)) is not None:
        file, found = opened
        with file, archive.member(name, mode=found.st_mode & 0o777, modified=found.st_mtime) as member:
            while chunk := file.read(CHUNK_BYTES):
                member.write(chunk)


def _verify(file: Path) -> VerifiedArchive:
    archive = VerifiedArchive(file)
    manifest, newest = archive.manifest, len(migrations.load())
    if manifest.schema > newest:
        raise SetupFailed(
            f"{file} has schema {manifest.schema}, this release knows {newest}: restore it with release"
            f" {manifest.program} or a newer one"
        )
    if major_version(manifest.postgres) > major_version(dumps.program_version()):
        raise SetupFailed(
            f"{file} comes from PostgreSQL {manifest.postgres}, this release has"
            f" {dumps.program_version()}: restore it with a newer release"
        )
    return archive


def _replace(settings: Settings, url: str, archive: VerifiedArchive, *, force: bool) -> list[str]:
    """Restore files and database; return where existing files were moved."""
    dumps.require_usable(url)
    if dumps.query(url, HAS_TABLES) == "t":
        if dumps.query(url, HAS_OUR_TABLES) != "t":
            raise SetupFailed("the database has tables of another program: use a database of its own")
        if not force and dumps.query(url, HAS_ROWS) == "t":
            raise SetupFailed("the database is not empty; --force replaces its contents")
    settings.data.mkdir(parents=True, exist_ok=True)
    work = settings.data / WORK
    shutil.rmtree(work, ignore_errors=True)
    try:
        for name in archive.names:
            archive.extract(name, work)
        os.sync()
        dumps.load(url, archive.dump())
        kept = _swap(settings.data, work, force=force)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    with suppress(StorageError):
        dumps.analyze(url)
    return kept


def _swap(data: Path, work: Path, *, force: bool) -> list[str]:
    kept = []
    for name in (*FOLDERS, *FILES):
        target = data / name
        if name == KEY_FILE and not (work / name).exists():
            # The key of a backup without one may have been put there.
            continue
        if target.exists() and (target.is_file() or any(target.iterdir())):
            if force:
                work.mkdir(exist_ok=True)
                target.rename(work / f"old-{name}")
            else:
                aside = dumps.unused_path(data / f"{name}.before-restore")
                target.rename(aside)
                kept.append(str(aside))
        elif target.is_dir():
            target.rmdir()
        if (work / name).exists():
            (work / name).rename(target)
    sync_folder(data)
    return kept


def _summary(manifest: Manifest) -> str:
    size = sum(entry.size for entry in manifest.files.values())
    files = sum(not is_of_dump(name) for name in manifest.files)
    return (
        f"schema {manifest.schema} of release {manifest.program}, PostgreSQL {manifest.postgres},"
        f" {files} files, {size / 1e6:.1f} MB, made {manifest.made}"
    )
