"""Why a page was kept or dropped: what the store knows, and the detectors' decisions once more."""
