"""`dedup run --engine spark`: on a cluster, or locally on Spark."""

import time
from collections import Counter
from dataclasses import replace
from functools import partial
from glob import glob
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from dedup.cli.broken_rows import check_number
from dedup.cli.console import ERRORS, plain
from dedup.cli.run_here import CollectionRun
from dedup.cli.run_progress import Counts, tell_counts, tell_too_short
from dedup.collection.evaluation import Evaluation, rows_of_job
from dedup.collection.formats import known_format
from dedup.collection.jobs import columns_of_baseline, is_job, rules_of_baseline
from dedup.collection.rules import Rules
from dedup.extras import require_extra
from dedup.store import STORE_NAME

if TYPE_CHECKING:
    from dedup.spark.files import Account


def execute_on_spark(run: CollectionRun, master: str | None) -> None:
    """Deduplicate.

    Raises:
        OSError, ValueError, ModuleNotFoundError: the message says what is wrong.
    """
    _check(run)
    _check_paths(run)
    for module in ("pyspark", "pyarrow"):
        require_extra(module, extra="spark", purpose="--engine spark")
    from dedup.spark.engine import Engine
    from dedup.spark.files import Outputs
    from dedup.spark.files import run as run_on_spark
    from dedup.spark.reading import read_sources
    from dedup.spark.session import open_session, sentence_of

    began = time.monotonic()
    session = open_session(master)
    outputs = Outputs(
        unique=run.unique,
        duplicates=run.duplicates,
        clusters=run.clusters,
        broken=run.broken,
        is_marked=run.mark,
        is_overwritten=run.overwrite,
        passages=run.passages,
        text=run.columns.text,
    )
    try:
        for option, path in run.outputs.items():
            if not run.overwrite and _is_there(session, path):
                raise FileExistsError(f"{option}: {path!r} already exists; --overwrite replaces it")
        rows = read_sources(session, run.inputs, run.columns, run.rules)
        if run.unique is not None:
            _check_format(run.unique, is_parquet=rows.is_parquet)
        baseline = None
        if run.against:
            columns = columns_of_baseline(run.columns, run.rules)
            baseline = read_sources(session, run.against, columns, rules_of_baseline(run.rules))
        evaluation = _evaluation(session, run)
        engine = Engine(rules=run.rules, on_stage=lambda stage: ERRORS.print(f"{stage} …"))
        check = partial(_check_rows, run)
        account = run_on_spark(rows, engine, outputs, baseline, check, evaluation)
    except (ValueError, OSError):
        raise
    except Exception as error:
        sentence = sentence_of(error)
        if sentence is None:
            raise
        raise OSError(sentence) from error
    finally:
        session.stop()
    first = [] if account.first_unfit is None else [str(account.first_unfit)]
    for sentence in (*first, *account.told):
        ERRORS.print(plain(sentence), soft_wrap=True)
    n_unfit = account.broken + account.without_text
    counts = Counts(
        unique=account.rows - n_unfit - sum(account.duplicates.values()),
        duplicates=Counter(account.duplicates),
        broken=account.broken,
        without_text=account.without_text,
        passages=account.passages,
    )
    tell_counts(counts, run.stages, time.monotonic() - began, as_json=run.json)
    if evaluation is not None:
        tell_too_short(evaluation)


def _evaluation(session: Any, run: CollectionRun) -> Evaluation | None:
    from dedup.spark.files import evaluation_of
    from dedup.spark.reading import read_sources

    if not run.contains:
        return None
    jobs = [each for each in run.contains if _local(each) and is_job(Path(_local(each)))]
    files = [each for each in run.contains if each not in jobs]
    columns = replace(run.columns, compare=(), others=(), required=frozenset())
    known = [evaluation_of(read_sources(session, files, columns, Rules()))] if files else []
    rows = chain(*known, *(rows_of_job(Path(_local(each))) for each in jobs))
    return Evaluation(rows, run.contains_words)


def _check_rows(run: CollectionRun, account: "Account") -> None:
    """Refuse a collection of which more rows are broken than the user allows."""
    n_unfit = account.broken + account.without_text
    check_number(n_unfit, run.max_broken, str(account.first_unfit))


def _check(run: CollectionRun) -> None:
    """Refuse what is not supported on Spark."""
    refused = {
        "--job": run.job is not None,
        "--processes": run.processes is not None,
        "--compare": bool(run.rules.compare),
        "--encoding": run.columns.encoding is not None,
    }
    for option, is_given in refused.items():
        if is_given:
            raise ValueError(
                f"{option} cannot be used with --engine spark; omit --engine or {option}"
            )
    formats = {known_format(_name(path)) for path in run.inputs}
    if "-" in run.inputs or "-" in run.outputs.values():
        raise ValueError("--engine spark reads and writes files and folders, not standard input")
    for option in ("-d", "--clusters", "--broken"):
        path = run.outputs.get(option, "")
        if (known_format(_name(path)) or "jsonl") != "jsonl":
            raise ValueError(f"{option} must be a folder of jsonl on Spark, got {path!r}")
    if "parquet" in formats and len(formats) > 1:
        raise ValueError("--engine spark reads either Parquet or other formats, not both")
    if run.unique is not None and None not in formats:
        _check_format(run.unique, is_parquet="parquet" in formats)
    for job in run.against:
        if (Path(_local(job)) / STORE_NAME).exists():
            raise ValueError(
                f"--against must be files with --engine spark, got the job {job!r};"
                f" `dedup export {job} -o FILE` writes its pages to one"
            )


def _check_format(unique: str, *, is_parquet: bool) -> None:
    wanted = "parquet" if is_parquet else "jsonl"
    if (known_format(_name(unique)) or wanted) != wanted:
        come = "Parquet" if is_parquet else "JSON Lines, CSV and web archives"
        raise ValueError(f"-o must be a folder of {wanted} for rows of {come}, got {unique!r}")


def _check_paths(run: CollectionRun) -> None:
    """Refuse outputs that would overwrite an input, the other output, or unrelated files.

    Raises:
        ValueError: an output is an input or the other output, or one contains the other.
        FileExistsError: `--overwrite` would replace a folder that Spark has not written.
    """
    read = [("IN", path) for path in run.inputs]
    read += [("--against", path) for path in run.against]
    read += [("--contains", path) for path in run.contains]
    given = [
        (name, Path(found))
        for name, path in read
        if (local := _local(path))
        for found in glob(local, recursive=True) or [local]  # noqa: PTH207 -- of any root
    ]
    given_outputs = ((option, _local(path)) for option, path in run.outputs.items())
    outputs = [(option, Path(local)) for option, local in given_outputs if local]
    for number, (option, output) in enumerate(outputs):
        for name, other in (*given, *outputs[:number]):
            first, second = output.resolve(), other.resolve()
            if first == second or first in second.parents or second in first.parents:
                raise ValueError(
                    f"{option} and {name} must be different folders, neither inside the other, got"
                    f" {str(output)!r} and {str(other)!r}"
                )
        if run.overwrite and output.exists() and not _is_earlier_output(output):
            raise FileExistsError(
                f"{option}: {str(output)!r} was not written by an earlier run; --overwrite refuses"
                " it"
            )


def _is_earlier_output(folder: Path) -> bool:
    """Is it a folder of part files written by Spark, or an empty one?"""
    if not folder.is_dir():
        return False
    return all(each.name.lstrip(".").startswith(("part-", "_SUCCESS")) for each in folder.iterdir())


def _local(path: str) -> str:
    """The path on this machine; "" for other file systems."""
    scheme, colon, rest = path.partition(":")
    if not colon or "/" in scheme:
        return path
    return "/" + rest.lstrip("/") if scheme == "file" else ""


def _name(path: str) -> str:
    return PurePosixPath(path.rstrip("/")).name


def _is_there(session: Any, path: str) -> bool:
    """Does the file or folder exist, on any file system?"""
    place = session._jvm.org.apache.hadoop.fs.Path(path)
    configuration = session._jsc.hadoopConfiguration()
    return bool(place.getFileSystem(configuration).exists(place))
