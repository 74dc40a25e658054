"""Where an export may be written, and how its file appears: whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine import paths
from engine.errors import InputError, UserError

_DATABASE = b"SQLite format 3\0"  # https://www.sqlite.org/fileformat.html, 1.3
_BESIDE = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database; without it answers are lost

# Whoever names such a file would be given a CSV that no program opens by that name.
_FOREIGN = frozenset({".xls", ".xlsm", ".xlsb", ".ods", ".pdf", ".doc", ".docx", ".feather", ".arrow"})
_FOREIGN |= {".zip", ".gz", ".bz2", ".xz", ".zst", ".db", ".sqlite"}


def spare_inputs(out: Path, *inputs: Path | None) -> None:
    """Refuse to write over what a command reads, whatever name it has there: a permission to overwrite is of results.

    Args:
        inputs: files that are read; None and what is not there are passed over.

    Raises:
        InputError: ``out`` is one of them, or what the program itself keeps: runs, conversations, the queue, settings.
    """
    _spare_kept(out)
    for each in inputs:
        with contextlib.suppress(OSError):
            if each is not None and out.samefile(each):
                message = "{path} is what this command reads; choose another file"
                raise InputError("out.is_input", message, path=str(out))


def _spare_kept(out: Path) -> None:
    """A database is never the result of a command, in whatever folder it lies."""
    for name in (out.name, *(out.name.removesuffix(each) for each in _BESIDE if out.name.endswith(each))):
        with contextlib.suppress(OSError):
            database = out.parent / name
            if database.is_file() and _begins(database, _DATABASE):
                raise _kept(out, "a database: runs, conversations and the queue are such files")
    with contextlib.suppress(OSError):
        if out.samefile(paths.settings_file()):
            raise _kept(out, "the file of the settings")


def _begins(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def _kept(out: Path, what: str) -> InputError:
    return InputError("out.is_kept", "{path} is {what}", remedy="choose another file", path=str(out), what=what)


def check_target(
    out: Path, *, overwrite: bool = False, table: Path | None = None, forms: Sequence[Path | None] = ()
) -> None:
    """Whether a file can be written there; asked before a run starts, and again before the export.

    Args:
        table: the run's own table, which is never overwritten.
        forms: the same of the forms and the manifest that the run came from.

    Raises:
        InputError: it exists, is a folder, the table or a form, its name promises another kind of file, or its folder
            is missing or not writable.
    """
    if out.is_dir():
        raise InputError("export.folder", "{path} is a folder; name a file", path=str(out))
    if out.exists() and not out.is_file():
        raise InputError("export.not_a_file", "{path} is a device or a pipe; name a file", path=str(out))
    if table is not None and out.exists() and table.exists() and out.samefile(table):
        raise InputError("export.own_table", "{path} is the table of this run; choose another file", path=str(out))
    spare_inputs(out, *forms)
    if (suffix := out.suffix.lower()) in _FOREIGN:
        raise InputError(
            "export.kind",
            "{path}: no {suffix} is written here",
            remedy="name a .csv, .xlsx, .parquet, .jsonl, .json (the manifest) or .html (the report)",
            path=str(out),
            suffix=suffix,
        )
    if out.exists() and not overwrite:
        raise InputError(
            "export.exists",
            "{path} exists",
            remedy="choose another file, or allow to overwrite it (--overwrite)",
            path=str(out),
        )
    folder = out.absolute().parent
    if not folder.is_dir():
        raise InputError("export.no_folder", "there is no folder {path}", path=str(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError("export.no_access", "cannot write into the folder {path}", path=str(folder))


@contextlib.contextmanager
def replacing(out: Path, *, overwrite: bool) -> Iterator[Path]:
    """An empty file beside the target that takes its name at the end; nothing is left of a failed export.

    Raises:
        InputError: the target came into being meanwhile.
        UserError: the disk is full, or the file cannot be written.
    """
    target = out.resolve() if overwrite else out.absolute()
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        # Mode 666 less the umask, as for any new file; a temporary file of the standard library would be private.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        os.close(handle)
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        _take_name(part, target, overwrite)
    except OSError as error:
        raise _failed(error, out) from error
    finally:
        part.unlink(missing_ok=True)


def _take_name(part: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        part.replace(target)
        return
    with contextlib.suppress(PermissionError, NotImplementedError):  # a file system without hard links
        os.link(part, target)  # unlike a rename it fails when somebody has made the file meanwhile
        return
    if target.exists():
        raise FileExistsError(errno.EEXIST, "exists", str(target))
    part.rename(target)


def _failed(error: OSError, out: Path) -> UserError:
    if isinstance(error, FileExistsError):
        return InputError("export.exists", "{path} exists", remedy="choose another file", path=str(out))
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "free some space or choose another disk; the run is kept"
        return UserError("disk.full", "no space left for {path}", remedy=remedy, path=str(out))
    detail = error.strerror or str(error)
    return UserError("export.failed", "cannot write {path}: {detail}", path=str(out), detail=detail)
