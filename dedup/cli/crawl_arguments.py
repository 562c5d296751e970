"""The arguments of `dedup crawl`, checked before Scrapy is imported: a spider and its arguments."""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from dedup.urls import canonical_url
from dedup.urls.credentials import without_credentials

_AUTO = "auto chooses it by the cores"


def checked_spider(options: argparse.Namespace) -> tuple[str, dict[str, str]]:
    """The name of the spider that the options ask for, and its arguments.

    Raises:
        ValueError: an option is wrong.
    """
    for url in options.urls:
        _check_url(url)
    if options.log is not None and options.keep is None:
        raise ValueError("--log goes with --keep; -s LOG_FILE=FILE logs one crawl")
    if options.keep is not None and options.pages is not None and not options.overwrite:
        raise ValueError("-o with --keep needs --overwrite: each visit writes the pages anew")
    arguments = {
        "url": ",".join(options.urls),
        "allow": options.allow or "",
        "deny": options.deny or "",
        "max_pages": _count("--max-pages", options.max_pages, "leave it out for all pages"),
        "max_seconds": _count("--max-seconds", options.max_seconds, "leave it out for no limit"),
        "job": _job_name(options.name),
        "refresh": "1" if options.refresh or options.keep is not None else "",
        "file": _list(options),
    }
    name = "urls" if options.list is not None else "sitemap" if options.sitemap else "site"
    return name, {each: value for each, value in arguments.items() if value}


def checked_settings(options: argparse.Namespace) -> dict[str, str]:
    """The settings that the options give.

    Raises:
        ValueError: an option is wrong.
    """
    settings = {}
    for given in _each_setting(options.settings):
        name, separator, value = given.partition("=")
        if not separator or not name.strip():
            raise ValueError(f"-s must be NAME=VALUE or @FILE with such lines, got {given!r}")
        settings[name.strip()] = value
    if options.render is not None:
        settings["DEDUP_RENDER"] = options.render
    if options.processes is not None:
        given = options.processes
        is_auto = given == "auto"
        settings["DEDUP_PROCESSES"] = given if is_auto else _count("--processes", given, _AUTO)
    return settings


def _each_setting(given: Iterable[str]) -> Iterator[str]:
    """The settings, with those of a file in place of `@FILE`.

    Raises:
        ValueError: a file cannot be read.
    """
    for each in given:
        if not each.startswith("@"):
            yield each
            continue
        try:
            yield from _lines(Path(each[1:]))
        except OSError as error:
            raise ValueError(f"-s {each} cannot be read ({error.strerror})") from None


def _check_url(given: str) -> None:
    scheme = urlsplit(given).scheme.lower() if "://" in given else ""
    if not scheme:
        if Path(given).is_file():
            raise ValueError(f"{given} is a file: dedup crawl --urls {given} fetches what it lists")
        raise ValueError(
            f"a URL must begin with https:// or http://, got {given!r}: dedup crawl https://{given}"
        )
    if scheme not in ("http", "https"):
        raise ValueError(f"a URL must begin with https:// or http://, got {given!r}")
    try:
        canonical_url(given)
    except ValueError as error:
        raise ValueError(f"not a URL: {without_credentials(given)!r} ({error})") from None


def _count(option: str, given: str | None, remedy: str) -> str:
    if given is None:
        return ""
    if not (given.isascii() and given.isdigit() and int(given)):
        raise ValueError(f"{option} must be a whole number of at least 1, got {given!r}; {remedy}")
    return given


def _job_name(given: str | None) -> str:
    if given is not None and (not given.strip() or {"/", "\\"} & {*given}):
        raise ValueError(
            f"--job must be a name without slashes, got {given!r}; -s DEDUP_JOBS_DIR=FOLDER chooses"
            " the folder of the jobs"
        )
    return given or ""


def _list(options: argparse.Namespace) -> str:
    """The file of `--urls`; "" if there is none and URLs are given.

    Raises:
        ValueError: there is neither, or both, or the file has no URL or cannot be read.
    """
    path = options.list
    if path is None:
        if not options.urls:
            raise ValueError("a URL is missing: dedup crawl https://…, or dedup crawl --urls FILE")
        return ""
    if options.urls or options.sitemap:
        other = "--sitemap" if options.sitemap else "URLs"
        raise ValueError(f"--urls FILE and {other} are two crawls: give one of them")
    try:
        return _checked_list(Path(path))
    except OSError as error:
        raise ValueError(
            f"--urls must be a readable file, got {path!r} ({error.strerror})"
        ) from None


def _checked_list(path: Path) -> str:
    first = ""
    for line in _lines(path):
        if _is_url(line):
            return str(path)
        first = first or line
    found = f"its first line is {first[:80]!r}" if first else "it is empty"
    raise ValueError(f"--urls must be a file with one URL per line, got {str(path)!r}: {found}")


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for line in file:
            if (line := line.strip()) and not line.startswith("#"):
                yield line


def _is_url(line: str) -> bool:
    try:
        return bool(canonical_url(line))
    except ValueError:
        return False
