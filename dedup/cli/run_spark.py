"""`dedup run --engine spark`: on a cluster, or on this machine as on one."""

import time
from collections import Counter
from glob import glob
from pathlib import Path, PurePosixPath
from typing import Any

from dedup.cli.console import ERRORS, plain
from dedup.cli.run_progress import Counts, closing_table
from dedup.cli.running import CollectionRun
from dedup.collection.formats import known_format
from dedup.extras import require_extra


def execute_on_spark(run: CollectionRun, master: str | None) -> None:
    """Deduplicate.

    Raises:
        OSError, ValueError, ModuleNotFoundError: one sentence about what is wrong.
    """
    _check(run)
    _check_paths(run)
    for module in ("pyspark", "pyarrow"):
        require_extra(module, extra="spark", purpose="--engine spark")
    from dedup.spark.engine import Engine
    from dedup.spark.files import Outputs, read_sources
    from dedup.spark.files import run as run_on_spark
    from dedup.spark.session import open_session, sentence_of

    began = time.monotonic()
    session = open_session(master)
    outputs = Outputs(
        unique=run.unique,
        duplicates=run.duplicates,
        is_marked=run.mark,
        is_overwritten=run.overwrite,
    )
    try:
        for option, path in (("-o", run.unique), ("-d", run.duplicates)):
            if path is not None and not run.overwrite and _is_there(session, path):
                raise FileExistsError(
                    f"{option}: {path!r} is there already; --overwrite replaces it"
                )
        rows = read_sources(
            session, run.inputs, run.columns, run.rules, parquet=_are_parquet(run.inputs)
        )
        engine = Engine(rules=run.rules, on_stage=lambda stage: ERRORS.print(f"{stage} …"))
        account = run_on_spark(rows, engine, outputs)
    except (ValueError, OSError):
        raise
    except Exception as error:
        sentence = sentence_of(error)
        if sentence is None:
            raise
        raise OSError(sentence) from error
    finally:
        session.stop()
    if account.first_broken is not None:
        number, reason = account.first_broken
        ERRORS.print(plain(f"the first broken row, {number}: {reason}"), soft_wrap=True)
    counts = Counts(
        unique=account.rows - account.broken - sum(account.duplicates.values()),
        duplicates=Counter(account.duplicates),
        broken=account.broken,
    )
    ERRORS.print(closing_table(counts, run.rules.stages, time.monotonic() - began))


def _check(run: CollectionRun) -> None:
    """Refuse what Spark does not do."""
    refused = {
        "--html": run.columns.html in run.columns.required,
        "--against": run.against is not None,
        "--job": run.job is not None,
        "--broken": run.broken is not None,
        "--processes": run.processes is not None,
        "--keep newest": run.rules.keep == "newest",
    }
    for option, is_given in refused.items():
        if is_given:
            raise ValueError(f"{option} is not for --engine spark; leave --engine out, or {option}")
    formats = {known_format(_name(path)) or "jsonl" for path in run.inputs}
    if "-" in run.inputs or "-" in (run.unique, run.duplicates):
        raise ValueError("--engine spark reads and writes files and folders, not standard input")
    if formats not in ({"jsonl"}, {"parquet"}):
        raise ValueError(
            "--engine spark reads JSON Lines or Parquet, all inputs in one format, got"
            f" {' and '.join(sorted(formats))}"
        )
    (found,) = formats
    if run.unique is not None and (known_format(_name(run.unique)) or found) != found:
        raise ValueError(f"-o must be a folder of {found}, as IN is, got {run.unique!r}")


def _check_paths(run: CollectionRun) -> None:
    """Refuse outputs by which an input, the other output, or something else would be lost.

    Raises:
        ValueError: an output is an input or the other output, or holds one, or is inside of one.
        FileExistsError: `--overwrite` would replace what is no earlier output of Spark's.
    """
    given = [
        ("IN", Path(found))
        for path in run.inputs
        if (local := _local(path))
        for found in glob(local, recursive=True) or [local]  # noqa: PTH207 -- of any root
    ]
    outputs = [
        (option, Path(local))
        for option, path in (("-o", run.unique), ("-d", run.duplicates))
        if path is not None and (local := _local(path))
    ]
    for number, (option, output) in enumerate(outputs):
        for name, other in (*given, *outputs[:number]):
            first, second = output.resolve(), other.resolve()
            if first == second or first in second.parents or second in first.parents:
                raise ValueError(
                    f"{option} must be another folder than {name}, and neither inside the other,"
                    f" got {str(output)!r} and {str(other)!r}"
                )
        if run.overwrite and output.exists() and not _is_earlier_output(output):
            raise FileExistsError(
                f"{option}: {str(output)!r} is no output of an earlier run, which is what"
                " --overwrite replaces"
            )


def _is_earlier_output(folder: Path) -> bool:
    """Is it a folder of part files, as Spark leaves it, or an empty one?"""
    if not folder.is_dir():
        return False
    return all(each.name.lstrip(".").startswith(("part-", "_SUCCESS")) for each in folder.iterdir())


def _local(path: str) -> str:
    """The path in this machine's files; "" for another file system's."""
    scheme, colon, rest = path.partition(":")
    if not colon or "/" in scheme:
        return path
    return "/" + rest.lstrip("/") if scheme == "file" else ""


def _name(path: str) -> str:
    return PurePosixPath(path.rstrip("/")).name


def _are_parquet(inputs: tuple[str, ...]) -> bool:
    return all(known_format(_name(path)) == "parquet" for path in inputs)


def _is_there(session: Any, path: str) -> bool:
    """Is there such a file or folder, in whichever file system?"""
    place = session._jvm.org.apache.hadoop.fs.Path(path)
    configuration = session._jsc.hadoopConfiguration()
    return bool(place.getFileSystem(configuration).exists(place))
