"""Deduplicating on Spark: the kernels of `dedup.arrow`, joined by Spark's shuffles.

The package is needed on every machine of the cluster, with the extra `spark`.
"""

from dedup.extras import require_extra

for _module in ("pyspark", "pyarrow"):
    require_extra(_module, extra="spark", purpose="dedup.spark")

from dedup.spark.frames import deduplicate  # noqa: E402 -- what it needs is looked for first

__all__ = ["deduplicate"]
