"""Why a URL gave no page: each reason in words, and what can be done about it."""

_REMEDIES = {
    "retry": "dedup retry JOB has it fetched again",
    "referrers": "dedup export JOB --failed FILE names the stored pages that link to it",
    "log": "the crawl's log has the traceback, and dedup retry JOB --reason REASON tries it again",
    "none": "nothing needs to be done",
}

_REASONS = {
    "callback_error": ("the spider's callback failed", "log"),
    "connection_failed": ("the connection failed", "retry"),
    "connection_refused": ("the host refused the connection", "retry"),
    "damaged": ("the response cannot be decompressed", "retry"),
    "dns": ("the host's name is not known", "retry"),
    "duplicate_link": (
        "only pages that were dropped as duplicates link to it",
        'DEDUP_DUPLICATE_LINKS = "follow" has it fetched',
    ),
    "empty": ("the response is empty", "none"),
    "host_pages": (
        "its host had as many pages as DEDUP_HOST_PAGES allows",
        "raise the setting, then dedup retry JOB --reason host_pages",
    ),
    "host_too_complex": (
        "too many pages of its host take more CPU time or memory than a page may",
        "raise DEDUP_READ_CPU_SECONDS or DEDUP_READ_MEMORY_MB, then dedup retry JOB"
        " --reason host_too_complex",
    ),
    "host_unreachable": ("its host could not be reached for DEDUP_HOST_WAIT_SECONDS", "retry"),
    "ignored": (
        "a downloader middleware of the project ignored the request",
        "what follows is the middleware's own message",
    ),
    "incomplete": ("the response was cut off", "retry"),
    "invalid_url": ("it is no http(s) URL", "referrers"),
    "known": ("it duplicates a document of the collection named by --against", "none"),
    "learned_rule": (
        "an earlier release had learned a URL rule that called it a page that is known",
        "dedup retry JOB --reason learned_rule has it fetched",
    ),
    "noindex": (
        "the page asks not to be indexed (robots meta or header)",
        "DEDUP_ROBOTS_META_OBEY = False keeps such pages",
    ),
    "not_html": ("the response is no HTML", "none"),
    "offsite": (
        "it is out of the crawl's scope",
        "add its host to the start URLs, or to allowed_domains",
    ),
    "parse_error": ("the page could not be read", "please report it, with the page"),
    "pipeline_dropped": ("an item pipeline of the project dropped it", "none"),
    "pipeline_error": ("an item pipeline failed", "log"),
    "private_address": (
        "a public host's link leads to a private address",
        "DEDUP_ALLOW_PRIVATE = True opens them, for a crawl of an intranet",
    ),
    "redirect_invalid": ("it redirects to something that is no URL", "referrers"),
    "redirect_loop": ("it redirects in a circle, or too often", "referrers"),
    "redirect_offsite": (
        "it redirects out of the crawl's scope",
        "start from where it leads, if that host is wanted",
    ),
    "redirect_private": (
        "it redirects from a public host to a private address",
        "DEDUP_ALLOW_PRIVATE = True opens them, for a crawl of an intranet",
    ),
    "redirect_scheme": ("it redirects to something that is no http(s) URL", "none"),
    "refresh": ("the page only refreshes to another", "none"),
    "robots": (
        "robots.txt forbids it",
        "ask the site's owner; ROBOTSTXT_OBEY = False is for sites of your own",
    ),
    "robots_too_complex": (
        "its host's robots.txt has too many wildcards to be obeyed",
        "tell the site's owner",
    ),
    "robots_txt": ("it is a robots.txt: its sitemaps were taken", "none"),
    "robots_unavailable": ("its host gave no robots.txt for five minutes", "retry"),
    "sitemap": ("it is a sitemap: its URLs were taken", "none"),
    "sitemap_budget": (
        "it is one sitemap too many: sitemaps that name sitemaps have an end",
        "none",
    ),
    "sitemap_error": ("the sitemap could not be read", "tell the site's owner"),
    "timeout": ("the server did not answer in time", "retry"),
    "too_complex": (
        "reading it takes more CPU time or memory than a page may",
        "raise DEDUP_READ_CPU_SECONDS or DEDUP_READ_MEMORY_MB, then dedup retry JOB"
        " --reason too_complex",
    ),
    "too_large": (
        "the response is larger than DOWNLOAD_MAXSIZE",
        "raise the setting, then dedup retry JOB --reason too_large",
    ),
    "trap": (
        "it looks like a trap, of which DEDUP_TRAP_PAGES pages were fetched",
        "raise the setting, then dedup retry JOB --reason trap",
    ),
    "unreadable_request": (
        "its queued request cannot be made any more: the spider's code has changed",
        "it is fetched where a page links to it in a new job",
    ),
    "unsupported_scheme": ("its scheme is neither http nor https", "none"),
    "url_too_long": (
        "its URL is longer than URLLENGTH_LIMIT",
        "raise the setting, then dedup retry JOB --reason url_too_long",
    ),
}
"""By reason: the words, and the remedy or its name."""

LEFT_OUT = frozenset({"duplicate_link", "host_pages", "host_too_complex", "learned_rule", "trap"})
"""Reasons for which the crawl itself has not fetched a URL."""

_NO_FAILURES = LEFT_OUT | {
    *("empty", "ignored", "known", "noindex", "not_html", "offsite", "pipeline_dropped"),
    *("private_address", "redirect_offsite", "redirect_private", "refresh", "robots"),
    *("robots_txt", "sitemap", "sitemap_budget", "unsupported_scheme"),
}


def is_failure(reason: str) -> bool:
    """Is something wrong with a URL that was not stored for this reason?

    The rest are left out on purpose, by the site or by the crawl.
    """
    return reason not in _NO_FAILURES


def status_of(reason: str) -> int | None:
    """The HTTP status that a reason tells; None: it tells none.

    >>> status_of("http_404"), status_of("timeout")
    (404, None)
    """
    digits = reason.removeprefix("http_")
    return int(digits) if digits != reason and digits.isdecimal() else None


def reason_words(reason: str) -> str:
    """Why a URL gave no page, as a sentence's part.

    >>> reason_words("http_404")
    'the server answered 404'
    """
    status = status_of(reason)
    if status is not None:
        return f"the server answered {status}"
    words, _ = _REASONS.get(reason, (f"the download failed with {reason}", ""))
    return words


def remedy(reason: str) -> str:
    """What can be done about a reason, as a sentence's part.

    >>> remedy("http_503")
    'dedup retry JOB has it fetched again'
    """
    status = status_of(reason)
    if status is None:
        _, found = _REASONS.get(reason, ("", "log"))
    elif status in (401, 403, 407):
        found = "the site asks for a name and password, or refuses crawlers; see USER_AGENT"
    elif status >= 500 or status in (408, 425, 429):
        found = "retry"
    else:
        found = "referrers"
    return _REMEDIES.get(found, found).replace("REASON", reason)
