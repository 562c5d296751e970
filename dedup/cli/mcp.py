"""`dedup mcp JOB…`: jobs for language models, by the Model Context Protocol."""

import argparse
from pathlib import Path

from dedup.extras import require_extra
from dedup.store import job_place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Let a language model search jobs, read their pages as Markdown, and ask what became of a"
        " URL and what changed. It is started by the model's program and speaks on standard input"
        " and output. Jobs are only read."
    )
    parser.add_argument(
        "jobs",
        nargs="+",
        type=job_place,
        metavar="JOB",
        help="folder, file or postgresql://…/DATABASE#NAME",
    )


def execute(options: argparse.Namespace) -> None:
    require_extra("mcp", extra="mcp", purpose="dedup mcp")
    from dedup.jobs.job import open_job
    from dedup.mcp.server import make_server

    jobs = {}
    for place in options.jobs:
        name = place.name if isinstance(place, Path) else place.rpartition("#")[2]
        if name in jobs:
            raise ValueError(f"jobs must have different names, got {name!r} twice")
        jobs[name] = open_job(place)
    make_server(jobs).run()
