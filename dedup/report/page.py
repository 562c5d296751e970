"""A job's report: one self-contained HTML file that loads nothing from elsewhere.

Text of the crawled pages is untrusted. Jinja escapes it, or it is in the compressed block of data,
which the page's script inserts only as text. As a second defence, the file's content security
policy allows only the report's own scripts and styles, by their digests, and no other resources.

Chart.js draws the charts; `template/vendor` has a copy with its licence.
"""

import base64
import gzip
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dedup.detectors import CASCADE, EXACT_STAGES
from dedup.errors import StateError
from dedup.files import read_json, write_atomically
from dedup.report.data import report_data
from dedup.store import JobStore, job_file, open_store, store_path

_SCRIPTS = ("chart.umd.min.js", "dom.js", "charts.js", "pair.js", "browser.js", "report.js")


def write_report(job: Path | str, path: Path | None = None) -> Path:
    """Write the report of a job, running or not; return its path.

    Args:
        job: its folder, or `postgresql://…/DATABASE#NAME`.
        path: the output file; None: `report.html` in the job's folder, or `NAME-report.html`.

    Raises:
        StateError: the store, or `stats.json` beside it, cannot be used.
        OSError: the file cannot be written.
    """
    with open_store(job, read_only=True) as store:
        if isinstance(job, Path):
            folder = store_path(job).parent
            name, settings = folder.resolve().name, _settings(folder)
        else:
            name = job.rpartition("#")[2]
            settings = json.loads(store.meta("settings") or "{}")
        text = render(store, name, settings)
    path = path or job_file(job, "report.html")
    write_atomically(path, text)
    return path


def render(store: JobStore, name: str, settings: Mapping[str, Any]) -> str:
    """Return the report of a job as HTML.

    Args:
        store: the store of the job.
        name: the name of the job.
        settings: those in `stats.json`, with the thresholds to mark. May be empty.
    """
    data = report_data(store)
    thresholds = {
        "resemblance": settings.get("DEDUP_NEAR_RESEMBLANCE"),
        "distance": settings.get("DEDUP_SIMHASH_DISTANCE"),
    }
    shown = {"times", "resemblances", "distances", "group_sizes", "groups", "summary", "sites"}
    block = {key: value for key, value in data.items() if key in shown}
    style = _source("report.css")
    scripts = [_source(f"vendor/{_SCRIPTS[0]}"), "\n".join(map(_source, _SCRIPTS[1:]))]
    return (
        _environment()
        .get_template("report.html")
        .render(
            **data,
            name=name,
            thresholds=thresholds,
            counts=_counts(data["summary"], data["sources"]),
            stages={name: stage.finds for name, stage in CASCADE.items()},
            style=Markup(style),  # noqa: S704 -- a file of this package
            scripts=[Markup(script) for script in scripts],  # noqa: S704 -- files of this package
            policy=_policy(style, scripts),
            data=_packed({**block, "thresholds": thresholds}),
        )
    )


def _counts(summary: Mapping[str, Any], sources: Mapping[str, int]) -> dict[str, Any]:
    pages = summary["pages"]
    duplicates = sum(pages["duplicates"].values())
    exact = sum(pages["duplicates"].get(stage, 0) for stage in EXACT_STAGES)
    return {
        "duplicates": duplicates,
        "exact": exact,
        "by_text": pages["duplicates"].get("text", 0),
        "by_body": pages["duplicates"].get("body", 0),
        "near": duplicates - exact,
        "skipped": sum(pages["skipped"].values()),
        "failed": sum(summary["failed"].values()),
        "by_itself": sources.get("page", 0) + sources.get("landmark", 0),
    }


def _policy(style: str, scripts: list[str]) -> str:
    """The policy that allows only the report's own style and scripts."""
    style_digest, *script_digests = (
        f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"
        for text in (style, *scripts)
    )
    return (
        f"default-src 'none'; style-src {style_digest}; script-src {' '.join(script_digests)};"
        " base-uri 'none'; form-action 'none'"
    )


def _packed(data: object) -> str:
    """JSON, gzip, base64: a sixth of the size, without characters that are special in HTML."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _settings(job: Path) -> Mapping[str, Any]:
    path = job / "stats.json"
    try:
        settings: Mapping[str, Any] = read_json(path)["settings"]
    except FileNotFoundError:  # the crawl has not ended
        return {}
    except (KeyError, TypeError) as error:
        remedy = "Move it; the report is then made without thresholds"
        raise StateError(path, f"expected a job's counts ({error!r})", remedy) from error
    return settings


def _source(name: str) -> str:
    return files("dedup.report").joinpath("template", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dedup.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: f"{value:,}"
    environment.filters["megabytes"] = _megabytes
    environment.filters["share"] = _share
    environment.filters["time"] = _time
    environment.filters["is_web"] = lambda url: url.startswith(("http://", "https://"))
    return environment


def _share(part: int, whole: int) -> str:
    """A percentage that is 0 or 100 only if exactly so."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    if 0 < percent < 0.1:
        return "< 0.1%"
    if 99.9 < percent < 100:
        return "> 99.9%"
    return f"{percent:.1f}%" if percent < 10 or percent > 99 else f"{percent:.0f}%"


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.2f}" if size_bytes < 1e7 else f"{size_bytes / 1e6:,.0f}"


def _time(seconds: str | float) -> str:
    return datetime.fromtimestamp(float(seconds), UTC).strftime("%Y-%m-%d %H:%M UTC")
