"""A check for CI: ends with status 1 where more than a share of a job's pages were duplicates.

python examples/check_share.py crawls/docs.example.org 0.5
"""

import json
import subprocess
import sys


def main(job: str, share: float) -> int:
    """Return 1, with a sentence on standard error, where there are too many."""
    command = [sys.executable, "-m", "dedup.cli", "stats", job, "--json"]
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    pages = json.loads(output)["pages"]
    duplicates = sum(pages["duplicates"].values())
    if duplicates > share * pages["fetched"]:
        print(f"{duplicates} of {pages['fetched']} pages are duplicates", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
