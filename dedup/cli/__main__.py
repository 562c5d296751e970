"""`python -m dedup.cli`: the command `dedup` if scripts are not on the path."""

import sys

from dedup.cli import main

sys.exit(main())
