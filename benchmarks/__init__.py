"""Benchmarks: speed beside other libraries, accuracy of detectors, crawls of real sites.

Every answer is checked before a time is reported. The other libraries are those of the dependency
group `bench`; one that is missing is reported and left out.
"""
