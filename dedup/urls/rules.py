"""Optional rules that make more addresses equal: each is right for many sites and wrong for some.

None is on unless a job names it. A rule that is wrong for a site makes the crawl miss pages there
without a trace, so each docstring says when it is safe.
"""

import re
from collections.abc import Callable, Iterable
from types import MappingProxyType

from dedup.urls.named_rules import DROP, named_rule
from dedup.urls.parts import UrlParts, parameter_name, remove_dot_segments

# Parameters that tell the site where a visitor came from and never choose what it shows. Names in
# everyday use for other things ("ref", "source", "id", "campaign", "scm", "cid") stay out.
TRACKING_PARAMETERS = frozenset(
    {
        # Google Ads, Analytics, Merchant Center
        *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid"),
        *("_ga", "_gl", "srsltid"),
        # Meta, X, TikTok, LinkedIn, Pinterest, Snapchat
        *("fbclid", "igsh", "igshid", "twclid", "ttclid", "li_fat_id", "epik", "ScCid"),
        # Microsoft Advertising, Yandex
        *("msclkid", "yclid", "_openstat"),
        # Mailchimp, HubSpot, Marketo, Klaviyo, Vero, Omeda: links in newsletters
        *("mc_cid", "mc_eid", "_hsenc", "_hsmi", "__hstc", "__hssc", "__hsfp", "hsCtaTracking"),
        *("mkt_tok", "_kx", "vero_id", "vero_conv", "oly_anon_id", "oly_enc_id"),
        # Impact
        "irclickid",
        # Alibaba, Taobao, Bilibili
        *("spm", "spm_id_from", "vd_source"),
        # Matomo, formerly Piwik
        *("pk_campaign", "pk_kwd"),
    }
)
TRACKING_PREFIXES = ("utm_", "mtm_")

_SESSION_PARAMETERS = frozenset({"cfid", "cftoken", "jsessionid", "phpsessid"})
_AMBIGUOUS_SESSION_PARAMETERS = frozenset({"sessionid", "sid"})
# Letters and digits mixed, 20 or more: PHP makes 22 to 32 of them, phpBB 32, Tomcat 32. Shorter
# or plain numbers are as likely the number of a story or a section.
_SESSION_TOKEN = re.compile(r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[0-9A-Za-z]{20,}")
# Java's ";jsessionid=…" and the folder that ASP.NET puts first: "/(S(lit3py55t21z5v55vlm25s55))/".
_SESSION_IN_PATH = re.compile(
    r";jsessionid=[^;/]*|/\((?:[A-Z]\([0-9A-Z_-]{20,}\))+\)(?=/)", re.IGNORECASE
)
_INDEX_PAGE = re.compile(
    r"/(?:index\.(?:html?|php|aspx?|jsp)|default\.(?:html?|aspx?))\Z", re.IGNORECASE
)


def use_https(parts: UrlParts) -> UrlParts:
    """Take http for https. Safe where a site serves the same by both, as nearly all do.

    An address with a port of its own is left alone: no port answers both protocols.
    """
    if parts.scheme == "http" and not parts.port:
        return parts._replace(scheme="https")
    return parts


def drop_www(parts: UrlParts) -> UrlParts:
    """Drop a leading "www." of the host. Safe where both names show one site.

    Not safe for hosts under which the bare domain is another service (some universities, ISPs).
    """
    rest = parts.host.removeprefix("www.")
    return parts._replace(host=rest) if rest != parts.host and "." in rest else parts


def drop_session(parts: UrlParts) -> UrlParts:
    """Drop session identifiers from path and query. Safe for every page shown without a login.

    `;jsessionid=…` and `/(S(…))/` in the path; PHPSESSID, JSESSIONID, ASPSESSIONID…, CFID and
    CFTOKEN in the query; `sid` and `sessionid` only where the value looks like a token (20 or more
    letters and digits, mixed): not safe for sites that number their pages so.
    """
    if ";" in parts.path or "/(" in parts.path:  # "..;jsessionid=1" leaves a dot segment
        path = remove_dot_segments(_SESSION_IN_PATH.sub("", parts.path))
        parts = parts._replace(path=path)
    return parts.without_fields(_is_session)


def drop_tracking(parts: UrlParts) -> UrlParts:
    """Drop the parameters of campaigns and click counters (`TRACKING_PARAMETERS`, utm_…, mtm_…).

    Safe nearly everywhere: sites that sign their query strings are the exception.
    """
    return parts.without_fields(_is_tracking)


def drop_index(parts: UrlParts) -> UrlParts:
    """Take a directory's index page for the directory: "/a/index.html" is "/a/".

    Safe for static sites and for most others; not where the server's index page is another file
    than the one named, or a directory address gives a listing.
    """
    match = _INDEX_PAGE.search(parts.path)
    return parts._replace(path=parts.path[: match.start() + 1]) if match else parts


def drop_slash(parts: UrlParts) -> UrlParts:
    """Drop a slash at the end of the path: "/a/" is "/a". Safe where one redirects to the other.

    Not safe for servers that tell a directory from a file of one name. "/" and "/a//" stay.
    """
    path = parts.path
    if path == "/" or not path.endswith("/") or path.endswith("//"):
        return parts
    return parts._replace(path=path[:-1])


RULES = MappingProxyType(
    {
        "https": use_https,
        "www": drop_www,
        "session": drop_session,
        "tracking": drop_tracking,
        "index": drop_index,
        "slash": drop_slash,
    }
)
"""The rules by name, in the order in which they are applied."""


class UrlRules:
    """The rules switched on for a job; callable on the parts of an address.

    Besides `RULES` there are rules with an argument, see `named_rule`, such as `drop:NAME` for a
    parameter that changes nothing on a site. NAME is the decoded name in the query, and case
    matters.

    The order of the names has no effect, except for `folder` and `host`. Applying the rules twice
    changes nothing more: they are repeated until nothing changes, which is soon, as each of them
    shortens, sorts, or turns http into https.

    Raises:
        ValueError: a name that is not a rule.

    >>> UrlRules(["slash", "drop:sort", "index"]).names
    ('index', 'slash', 'drop:sort')
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        wanted = frozenset([names] if isinstance(names, str) else names)
        self.names = (*(name for name in RULES if name in wanted), *sorted(wanted - RULES.keys()))
        self._functions = [_rule(name) for name in self.names]

    def __call__(self, parts: UrlParts) -> UrlParts:
        while True:
            before = parts
            for function in self._functions:
                parts = function(parts)
            if parts == before:
                return parts

    def __repr__(self) -> str:
        return f"UrlRules({list(self.names)})"


def _rule(name: str) -> Callable[[UrlParts], UrlParts]:
    rule = RULES.get(name) or named_rule(name)
    if rule is None:
        known = ", ".join(RULES)
        raise ValueError(
            f"rules must be among {known}, {DROP}NAME, bare-query, order, folder:/A/=/B/,"
            f" host:A=B (the longer first), got {name!r}"
        )
    return rule


def _is_tracking(field: str) -> bool:
    name = parameter_name(field)
    return name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIXES)


def _is_session(field: str) -> bool:
    name = parameter_name(field).lower()
    if name in _AMBIGUOUS_SESSION_PARAMETERS:
        return _SESSION_TOKEN.fullmatch(field.partition("=")[2]) is not None
    return name in _SESSION_PARAMETERS or name.startswith("aspsessionid")
