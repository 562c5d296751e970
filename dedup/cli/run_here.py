"""`dedup run` on this machine: read, judge and write rows, and show progress."""

import gc
import signal
import threading
import time
from array import array
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from xxhash import xxh3_64_intdigest

from dedup.cli.broken_rows import BrokenRows, check_number
from dedup.cli.console import ERRORS, plain
from dedup.cli.progress import rate, showing_progress
from dedup.cli.run_progress import Counts, tell_counts, tell_too_short
from dedup.collection import Broken, Columns, Source, find_sources, learn_sites, read_rows
from dedup.collection.account import FileAccount
from dedup.collection.clusters import NAMES, cluster_record
from dedup.collection.deciding import Decider
from dedup.collection.evaluation import CONTAINS, Evaluation, rows_of_files, rows_of_job
from dedup.collection.formats import format_to_write, open_writer
from dedup.collection.jobs import find_baseline, find_files, is_job, open_baseline, open_job
from dedup.collection.judging import Judged, RowJudge
from dedup.collection.passages import PASSAGES, PassageCutter
from dedup.collection.remote import check_addresses, is_address, local_path, sent
from dedup.collection.rules import Rules
from dedup.collection.signing import SigningProcesses, Work, usable_processes
from dedup.collection.sites import rare_lines, with_markup
from dedup.collection.spool import SpoolStore
from dedup.collection.writing import Output, Writer, write_record
from dedup.collection.writing.outputs import (
    STANDARD_OUTPUT,
    check_outputs,
    is_device,
    named_error,
    output_path,
    standard_output,
)
from dedup.text.shingles import count_distinct

_GARBAGE = (200_000, 50, 50)
"""Rows create many objects but no cycles. Python's default thresholds cost 8% of the time of the
process that decides."""

_WORTH_BYTES = 8 * 2**20
"""For less, one process computes the signatures before others have started."""


_RECORDS = {
    "-d": (
        "id",
        "url",
        "duplicate_of",
        "duplicate_of_url",
        "stage",
        "distance",
        "resemblance",
        "first_seen",
    ),
    "--clusters": NAMES,
}
"""The columns of records of our own, by option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionRun:
    """The options of a run; see `dedup run --help`."""

    inputs: tuple[str, ...]
    unique: str | None
    duplicates: str | None
    clusters: str | None
    broken: str | None
    overwrite: bool
    columns: Columns
    rules: Rules
    mark: bool
    against: tuple[str, ...]
    passages: int | None
    contains: tuple[str, ...]
    contains_words: int
    processes: int | None
    job: Path | None
    max_broken: int | None = None
    json: bool = False

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs that were asked for, by option."""
        given = {
            "-o": self.unique,
            "-d": self.duplicates,
            "--clusters": self.clusters,
            "--broken": self.broken,
        }
        return {option: path for option, path in given.items() if path is not None}

    @property
    def stages(self) -> tuple[str, ...]:
        """All that may drop rows, as the closing table lists them."""
        return (CONTAINS, *self.rules.stages, PASSAGES)


def execute_here(run: CollectionRun) -> None:
    """Deduplicate.

    Raises:
        OSError, ValueError, StateError, ModuleNotFoundError: the message says what is wrong. No
            output was created or changed.
    """
    outputs = {option: local_path(path) for option, path in run.outputs.items()}
    inputs, against, contains = (
        tuple(map(local_path, each)) for each in (run.inputs, run.against, run.contains)
    )
    gc.set_threshold(*_GARBAGE)
    with ExitStack() as stack:
        stack.enter_context(_ended_by_signals())
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="dedup-")))
        formats = _formats(outputs)
        if run.passages is not None and formats.get("-o") == "warc":
            raise ValueError(
                "--passages changes texts, which a web archive keeps as they came: write another"
                f" format, got {run.unique!r}"
            )
        try:
            sources = find_sources(inputs, folder)
            known = find_baseline(against, folder)
            evaluated = find_files(contains, folder, option="--contains")
        except OSError as error:
            raise named_error(error, str(folder)) from error
        paths = {"IN": sources, "--against": known, "--contains": evaluated}
        read = {name: [each.path for each in files] for name, files in paths.items()}
        elsewhere = {option: path for option, path in outputs.items() if is_address(path)}
        check_addresses(
            elsewhere,
            {name: [each.name for each in files] for name, files in paths.items()},
            overwrite=run.overwrite,
        )
        here = {option: path for option, path in outputs.items() if option not in elsewhere}
        check_outputs(here, read, overwrite=run.overwrite)
        counts = Counts()
        began = time.monotonic()
        pages = with_markup(sources, run.columns)
        sites = learn_sites((row for _, row in _read(pages, run, "sites")), run.columns)
        evaluation = _evaluation(contains, evaluated, run)
        baseline = open_baseline(against, known, run.rules, run.columns, folder)
        stack.callback(baseline.close)
        store = (
            SpoolStore(folder)
            if run.job is None
            else open_job(
                run.job,
                run.rules,
                sources,
                known,
                baseline,
                run,
                contains=None if evaluation is None else evaluation.digest,
            )
        )
        stack.callback(store.close)
        rare_on = rare_lines(sites.get, *baseline.sites)
        decider = Decider(run.rules, store, baseline.stores, baseline.groups, rare_on=rare_on)
        workers = SigningProcesses(
            Work(
                columns=run.columns,
                rules=run.rules,
                sites=sites,
                evaluation=evaluation,
                packs_texts=run.job is not None,
            ),
            _n_processes(run, sources),
        )
        stack.callback(workers.close)
        id_column = "" if run.against else run.columns.id  # ids of other files are known as text
        writers = {
            option: _open(stack, path, formats[option], sources, id_column, option)
            for option, path in {**here, **elsewhere}.items()  # the last are complete first
        }
        accounts = [FileAccount(source, run.columns) for source in sources]
        told = BrokenRows(accounts)

        def on_broken(file: int, broken: Broken) -> None:
            counts.without_text += broken.lacks_text
            counts.broken += not broken.lacks_text
            name = sources[file].name
            first = f"{name}, {broken.place}: {broken.reason}"
            check_number(counts.broken + counts.without_text, run.max_broken, first)
            told.add(file, broken)
            if "--broken" in writers:
                record = {"file": name, "place": broken.place, "reason": broken.reason}
                write_record(writers["--broken"], {**record, "row": broken.text})

        judge = RowJudge(run.rules, decider, workers, accounts, folder=folder, on_broken=on_broken)
        ids = array("Q")
        for judged in _judged(stack, run, judge, sources, counts, folder):
            if judged.has_text:
                counts.add(None if judged.match is None else judged.match.stage)
                ids.append(xxh3_64_intdigest(repr(judged.id).encode(errors="surrogatepass")))
            _write(judged, writers, is_marked=run.mark)
        told.tell()
        for sentence in judge.told:
            _tell(sentence)
        store.decisions.finish()
    if repeated := len(ids) - len(count_distinct(np.array(ids, np.uint64))[0]):
        ERRORS.print(
            f"{repeated:,} rows share an id with another row, so `duplicate_of` may be ambiguous"
        )
    tell_counts(counts, run.stages, time.monotonic() - began, as_json=run.json)
    if evaluation is not None:
        tell_too_short(evaluation)
    if decider.limit_reached:
        limit = run.rules.config.max_candidates
        ERRORS.print(
            f"{decider.limit_reached:,} times a row had more than {limit} candidates in a stage;"
            f" only the {limit} most promising were compared",
            soft_wrap=True,
        )


def _judged(
    stack: ExitStack,
    run: CollectionRun,
    judge: RowJudge,
    sources: list[Source],
    counts: Counts,
    folder: Path,
) -> Iterator[Judged]:
    """Yield the rows, without passages where they are to be cut."""
    if run.passages is None:
        return judge.judge(lambda: _read(sources, run, "rows", counts))
    cutter = PassageCutter(run.passages, run.columns, folder, marks=run.mark)
    stack.callback(cutter.close)
    counts.passages = cutter.counts
    judged = judge.judge(lambda: _read(sources, run, "rows"))
    return cutter.cut(judged, lambda: _read(sources, run, "passages", counts))


def _evaluation(
    contains: tuple[str, ...], sources: list[Source], run: CollectionRun
) -> Evaluation | None:
    if not contains:
        return None
    jobs = (Path(each) for each in contains if is_job(Path(each)))
    rows = chain(rows_of_files(sources, run.columns), *map(rows_of_job, jobs))
    return Evaluation(rows, run.contains_words)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Clean up when the process is told to end, as after Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    names = ("SIGTERM", "SIGHUP")
    found = [getattr(signal, name) for name in names if hasattr(signal, name)]
    ours = [each for each in found if signal.getsignal(each) is signal.SIG_DFL]  # not nohup's
    for each in ours:
        signal.signal(each, end)
    try:
        yield
    finally:
        for each in ours:
            signal.signal(each, signal.SIG_DFL)


def _write(judged: Judged, writers: Mapping[str, Writer], *, is_marked: bool) -> None:
    match = judged.match
    if is_marked or (match is None and judged.has_text):
        unique = writers.get("-o")
        if unique is not None:
            unique.write(judged.row, judged.document, judged.marks if is_marked else None)
    if match is not None and "-d" in writers:
        record = (
            judged.id,
            judged.document.url,
            judged.duplicate_of,
            judged.duplicate_of_url,
            match.stage,
            match.distance,
            match.resemblance,
            None,
        )
        write_record(writers["-d"], dict(zip(_RECORDS["-d"], record, strict=True)))
    if judged.has_text and "--clusters" in writers:
        write_record(writers["--clusters"], cluster_record(judged))


def _formats(outputs: dict[str, str]) -> dict[str, str | None]:
    """The format of each output by its extension; None: that of the input."""
    formats: dict[str, str | None] = {}
    for option, given in outputs.items():
        if given == STANDARD_OUTPUT:
            formats[option] = None
            continue
        formats[option] = None if is_device(Path(given)) else format_to_write(Path(given))
        if option == "--broken" and formats[option] not in ("jsonl", None):
            raise ValueError(f"--broken must end in .jsonl, .jsonl.gz or .jsonl.zst, got {given!r}")
        if option in ("-d", "--clusters") and formats[option] == "warc":
            raise ValueError(f"{option} must end in .jsonl, .csv, .tsv or .parquet, got {given!r}")
    return formats


def _open(
    stack: ExitStack,
    given: str,
    found: str | None,
    sources: list[Source],
    id_column: str,
    option: str,
) -> Writer:
    (kind, *others) = {source.format for source in sources}
    written = found or (kind if kind in ("csv", "tsv") and not others else "jsonl")
    if given == STANDARD_OUTPUT:
        path = stack.enter_context(standard_output())
    elif is_address(given):
        path = stack.enter_context(sent(given))
    else:
        path = stack.enter_context(output_path(given))
    names = _RECORDS.get(option, ())
    output = Output(path, given, id_column, tell=_tell, names=names)
    return stack.enter_context(open_writer(written, output))


def _tell(sentence: str) -> None:
    ERRORS.print(plain(sentence), soft_wrap=True)


def _n_processes(run: CollectionRun, sources: list[Source]) -> int:
    if run.processes is not None:
        return run.processes
    is_large = sum(source.size_bytes for source in sources) >= _WORTH_BYTES
    return usable_processes() if is_large else 1


def _read(
    sources: list[Source], run: CollectionRun, what: str, counts: Counts | None = None
) -> Iterator[tuple[int, Any]]:
    """Read all files, and show progress. Yields the number of the file and the row."""

    def words(_: int, seconds: float) -> str:
        return "" if counts is None else rate(counts.total, "rows", seconds)

    with showing_progress(what, sum(each.size_bytes for each in sources), words) as show:
        before = 0
        for number, source in enumerate(sources):
            start = before

            def at(position: int, start: int = start) -> None:
                show(start + position)

            for row in read_rows(source, run.columns, at):
                yield number, row
            before += source.size_bytes
