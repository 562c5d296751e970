"""Why a URL has no page: each reason in words, and its remedy."""

from dedup.rendering.record import FAILED

_REMEDIES = {
    "retry": "dedup retry JOB requeues it",
    "referrers": "dedup export JOB --failed FILE names the stored pages that link to it",
    "log": "the crawl's log has the traceback; dedup retry JOB --reason REASON requeues it",
    "none": "nothing to do",
}

_REASONS = {
    "callback_error": ("the spider's callback failed", "log"),
    "connection_failed": ("the connection failed", "retry"),
    "connection_refused": ("the host refused the connection", "retry"),
    "damaged": ("the response cannot be decompressed", "retry"),
    "dns": ("the host's name could not be resolved", "retry"),
    "document_broken": ("the document is damaged", "tell the site's owner"),
    "document_encrypted": ("the document needs a password", "none"),
    "document_scanned": (
        "most pages of the document have no text that can be read: they may be scanned",
        "none",
    ),
    "duplicate_link": (
        "only dropped duplicates link to it",
        'DEDUP_DUPLICATE_LINKS = "follow" fetches it',
    ),
    "earlier_crawl": ("it duplicates a page of a crawl named by DEDUP_BASELINE", "none"),
    "empty": ("the response is empty", "none"),
    "host_pages": (
        "its host reached DEDUP_HOST_PAGES",
        "raise the setting, then dedup retry JOB --reason host_pages",
    ),
    "host_too_complex": (
        "too many pages of its host exceed the limits of CPU time or memory",
        "raise DEDUP_READ_CPU_SECONDS or DEDUP_READ_MEMORY_MB, then dedup retry JOB"
        " --reason host_too_complex",
    ),
    "host_unreachable": ("its host could not be reached for DEDUP_HOST_WAIT_SECONDS", "retry"),
    "ignored": (
        "a downloader middleware of the project ignored the request",
        "the middleware's own message follows",
    ),
    "incomplete": ("the response was cut off", "retry"),
    "invalid_url": ("it is not an http(s) URL", "referrers"),
    "known": ("it duplicates a document of the collection named by --against", "none"),
    "learned_rule": (
        "a URL rule learned by an earlier release took it for a known page",
        "dedup retry JOB --reason learned_rule requeues it",
    ),
    "noindex": (
        "the page asks not to be indexed (robots meta or header)",
        "DEDUP_ROBOTS_META_OBEY = False keeps such pages",
    ),
    "not_html": ("the response is not HTML", "none"),
    "offsite": (
        "it is out of the crawl's scope",
        "add its host to the start URLs, or to allowed_domains",
    ),
    "parse_error": ("the page could not be read", "please report this, with the page"),
    "pipeline_dropped": ("an item pipeline of the project dropped it", "none"),
    "pipeline_error": ("an item pipeline failed", "log"),
    "private_address": (
        "a public host's link leads to a private address",
        "DEDUP_ALLOW_PRIVATE = True opens them, for a crawl of an intranet",
    ),
    "redirect_invalid": ("it redirects to an invalid URL", "referrers"),
    "redirect_loop": ("it redirects in a circle, or too often", "referrers"),
    "redirect_offsite": (
        "it redirects outside the crawl's scope",
        "start from its target, if you want that host",
    ),
    "redirect_private": (
        "it redirects from a public host to a private address",
        "DEDUP_ALLOW_PRIVATE = True opens them, for a crawl of an intranet",
    ),
    "redirect_to_one_page": (
        "it redirects to the page to which most pages of its host redirect",
        "none",
    ),
    "redirect_scheme": ("it redirects to something other than an http(s) URL", "none"),
    "refresh": ("the page is only a refresh to another", "none"),
    "robots": (
        "robots.txt forbids it",
        "ask the site's owner; use ROBOTSTXT_OBEY = False only on your own sites",
    ),
    "robots_too_complex": (
        "its host's robots.txt has too many wildcards to be obeyed",
        "tell the site's owner",
    ),
    "robots_txt": ("it is a robots.txt file: its sitemaps were read", "none"),
    "robots_unavailable": ("its host gave no robots.txt for five minutes", "retry"),
    "sitemap": ("it is a sitemap: its URLs were read", "none"),
    "sitemap_budget": (
        "it exceeds the limit on nested sitemaps",
        "none",
    ),
    "sitemap_error": ("the sitemap could not be read", "tell the site's owner"),
    "timeout": ("the server did not answer in time", "retry"),
    "too_complex": (
        "reading it exceeds the limits of CPU time or memory",
        "raise DEDUP_READ_CPU_SECONDS or DEDUP_READ_MEMORY_MB, then dedup retry JOB"
        " --reason too_complex",
    ),
    "same_route": (
        "its page has no scripts, or other routes of that, or with its query, show nothing new",
        "dedup retry JOB --reason same_route, then resume with -s DEDUP_TRAP_PAGES=0",
    ),
    "too_large": (
        "the response is larger than DOWNLOAD_MAXSIZE",
        "raise the setting, then dedup retry JOB --reason too_large",
    ),
    "trap": (
        "it looks like a trap, and its pattern reached DEDUP_TRAP_PAGES",
        "raise the setting, then dedup retry JOB --reason trap",
    ),
    "unreadable_request": (
        "its queued request can no longer be restored: the spider's code has changed",
        "a new job fetches it if a page links to it",
    ),
    "unsupported_scheme": ("its scheme is neither http nor https", "none"),
    "url_too_long": (
        "its URL is longer than URLLENGTH_LIMIT",
        "raise the setting, then dedup retry JOB --reason url_too_long",
    ),
}
"""For each reason: its words, and the remedy or the name of one."""

_VISITS = {
    "template": "a new version, without a change of the page's own text",
    "missing": "404; the page is gone if the next visit finds the same",
    "gone": "gone: 404 or the text of other pages in two visits, or 410",
    "gone: noindex": "gone: marked noindex in two visits",
    "gone: not_html": "gone: no longer a page in two visits",
    "moved": "moved",
    "back": "it is there again",
    "failed: other_text": (
        "failed: its text is that of other pages, or most pages of its host have others at once"
    ),
}

LEFT_OUT = frozenset(
    {"duplicate_link", "host_pages", "host_too_complex", "learned_rule", "same_route", "trap"}
)
"""Reasons for which the crawl itself did not fetch a URL."""

_NO_FAILURES = LEFT_OUT | {
    *(
        "document_encrypted",
        "document_scanned",
        "earlier_crawl",
        "empty",
        "ignored",
        "known",
        "noindex",
        "not_html",
        "offsite",
        "pipeline_dropped",
    ),
    *("private_address", "redirect_offsite", "redirect_private", "refresh", "robots"),
    *("robots_txt", "sitemap", "sitemap_budget", "unsupported_scheme"),
}


def is_failure(reason: str) -> bool:
    """Does the reason mean a failure?

    For other reasons the site or the crawl excludes the URL on purpose.
    """
    return reason not in _NO_FAILURES


def status_of(reason: str) -> int | None:
    """The HTTP status in a reason; None: there is none.

    >>> status_of("http_404"), status_of("timeout")
    (404, None)
    """
    digits = reason.removeprefix("http_")
    return int(digits) if digits != reason and digits.isdecimal() else None


def reason_words(reason: str) -> str:
    """Why a URL has no page, as part of a sentence.

    >>> reason_words("http_404")
    'the server answered 404'
    """
    status = status_of(reason)
    if status is not None:
        return f"the server answered {status}"
    words, _ = _REASONS.get(reason, (f"the download failed with {reason}", ""))
    return words


def visit_words(outcome: str) -> str:
    """What a visit in a refresh found, in words.

    >>> visit_words("unchanged"), visit_words("failed: http_503")
    ('unchanged', 'failed: the server answered 503')
    """
    reason = outcome.removeprefix(FAILED)
    known = f"{FAILED}{reason_words(reason)}" if reason != outcome else outcome
    return _VISITS.get(outcome, known)


def remedy(reason: str) -> str:
    """The remedy for a reason, as part of a sentence.

    >>> remedy("http_503")
    'dedup retry JOB requeues it'
    """
    status = status_of(reason)
    if status is None:
        _, found = _REASONS.get(reason, ("", "log"))
    elif status in (401, 403, 407):
        found = "the site requires a login or refuses crawlers; see USER_AGENT"
    elif status >= 500 or status in (408, 425, 429):
        found = "retry"
    else:
        found = "referrers"
    return _REMEDIES.get(found, found).replace("REASON", reason)
