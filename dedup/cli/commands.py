"""What each command's module has: `add_parser`, which is called when the command is asked for."""

from __future__ import annotations

import argparse
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""The list of commands that a parser is added to."""
