"""The directives of `X-Robots-Tag`, and of robots in a meta element."""

_VALUED_DIRECTIVES = frozenset(
    {"max-image-preview", "max-snippet", "max-video-preview", "unavailable_after"}
)


def robots_directives(value: str) -> frozenset[str]:
    """The directives for all robots; those after `name:` are for that robot only."""
    directives = []
    for part in value.lower().split(","):
        name, colon, _ = part.partition(":")
        if colon and name.strip() not in _VALUED_DIRECTIVES:
            break
        directives.append(name.strip())
    return frozenset(directives)
