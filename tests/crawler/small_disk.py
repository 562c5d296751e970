"""Runs a script with a limit on the size of its files: `small_disk.py BYTES SCRIPT …`."""

import resource
import runpy
import sys

if __name__ == "__main__":
    n_bytes = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
