"""Frames that are kept for a while, or sent whole to each task."""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

_MOST_SENT = 1 << 22
"""Rows of one or two numbers that are sent whole to each task, 100 MB there, so that the other side
of a join is not shuffled."""


def settled(frame: DataFrame) -> DataFrame:
    """Compute a frame now, and forget how: plans of many rounds would grow without end.

    Where the application has a checkpoint folder, it is kept there, and outlives executors.
    """
    if frame.sparkSession.sparkContext.getCheckpointDir() is not None:
        return frame.checkpoint()
    return frame.localCheckpoint()


def released(*frames: DataFrame) -> None:
    """Remove what was kept of settled frames, on which nothing depends any more."""
    for frame in frames:
        context: Any = frame.sparkSession.sparkContext
        plan: Any = frame._jdf
        kept = plan.queryExecution().analyzed().rdd()
        kept.unpersist(False)
        checkpoint = kept.getCheckpointFile()
        if checkpoint.isDefined():
            path = context._jvm.org.apache.hadoop.fs.Path(checkpoint.get())
            path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)


def sent(frame: DataFrame) -> DataFrame:
    """A frame of numbers, soon computed, as the smaller side of a join."""
    return F.broadcast(frame) if frame.count() <= _MOST_SENT else frame
