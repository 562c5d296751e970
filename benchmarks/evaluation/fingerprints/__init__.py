"""Fingerprints of published methods that no stage of the default cascade uses."""
