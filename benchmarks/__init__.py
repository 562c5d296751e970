"""Benchmarks of the index and of the fingerprints, with other libraries beside them.

Every answer is checked before a time is reported. The other libraries are those of the dependency
group `bench`; one that is missing is reported and left out.
"""
