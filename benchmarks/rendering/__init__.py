"""Sites that scripts make, built with published frameworks, each with the truth of its pages.

`python -m benchmarks.rendering.build DIR --data DATA` builds them (Node.js and npm are needed);
`benchmarks/measurements/rendering.py` crawls them.
"""
