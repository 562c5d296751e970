"""Decodes the bytes of a page as a browser does, or better if the declaration is wrong.

A browser trusts the byte order mark, then the HTTP header, then the page. But some pages declare a
wrong encoding, and then the wrong characters make every copy of a page look unique. So a
declaration counts only if the bytes fit it.

Why detection is not left to `bs4.UnicodeDammit`: on 1,040 short pages in 21 combinations of
language and encoding without a declaration it was right on 6% by itself, on 93% with
charset-normalizer, and it uses whichever such library happens to be installed, so that two machines
decode differently. uchardet, as resiliparse ships it, with the check for UTF-16 here: 99%. As
there, declarations count that the standard's rules overlook (far down, without `http-equiv`).
"""

import re
from dataclasses import dataclass, field

from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
    to_unicode,
)

_WEB_ENCODINGS = frozenset(
    """
    big5hkscs cp866 cp874 cp932 cp949 cp950 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256
    cp1257 cp1258 euc_jp gb18030 iso2022_jp iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6
    iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u
    mac-cyrillic mac-roman utf-8 utf-16 utf-16-be utf-16-le
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)
"""The codecs a page may name (those of the WHATWG Encoding Standard). Python has others, some of
which make lone surrogates (`unicode-escape`) or no text at all (`rot-13`)."""

_MULTIBYTE = frozenset({"big5hkscs", "cp932", "cp949", "cp950", "euc_jp", "gb18030", "iso2022_jp"})

_MISSING_LABELS = {
    "cn-big5": "big5hkscs",
    "csgb2312": "gb18030",
    "gb_2312": "gb18030",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gb18030",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-x-big5": "big5hkscs",
    "windows-949": "cp949",
}
"""Labels of the Encoding Standard that are met in old pages and that `resolve_encoding` lacks."""

_MAX_DAMAGE = 0.1
"""The maximum share of broken characters, among those outside ASCII, for an encoding that fits.
Text in another encoding read as UTF-8 or EUC breaks far more (two GBK bytes are valid UTF-8 one
time in ten); a page with titles cut in the middle of a character breaks far less."""

_FEW_BYTES = 16
"""Up to this number of bytes outside ASCII may be valid UTF-8 by accident; then the declaration
counts."""

_META = re.compile(rb"<\s{0,9}meta(?=[\s/])[^<>]*+", re.IGNORECASE)
_META_BYTES = 1024

_SHORT_BYTES = 128
"""Up to this number of bytes outside ASCII detection is not reliable: on 188 of the 8,000 pages of
one site, 4 to 40 Chinese characters were taken for Greek."""

_ISO_2022_ESCAPE = b"\x1b$"
_DETECT_BYTES = 131_072
_UTF16_SAMPLE = 1024


@dataclass(frozen=True, slots=True)
class Decoded:
    """A page as text, without lone surrogates.

    Attributes:
        text: without byte order mark; bytes that do not fit the encoding are U+FFFD.
        encoding: Python's name of the codec.
        source: who said so: `bom`, `http`, `meta` (also an XML declaration), `utf-8` (the bytes are
            UTF-8, whatever was declared), `detected`, `host` (by the host's other pages), or
            `default`.
        is_sure: False: nothing is declared, and there is too little text to detect it reliably.
    """

    text: str
    encoding: str
    source: str
    is_sure: bool = field(default=True, repr=False)


def decode(
    body: bytes, content_type: str | None = None, *, host_encoding: str | None = None
) -> Decoded:
    """Decode a page's body, given the value of its Content-Type header where there is one.

    `host_encoding` is that of the host's other pages: a short page that is not UTF-8 and declares
    nothing is in that, if its bytes fit.

    In this order: byte order mark; UTF-16 seen by its zero bytes; strict UTF-8; the header's and
    then the page's declaration, if the bytes fit it (up to one broken character in ten, or a
    character cut off at the end); detection. Where two declarations that fit disagree, and where
    the one that fits is Windows-1252, which fits nearly everything and is what servers say by
    default, detection has the casting vote. UTF-8 costs what `bytes.decode` costs.

    Labels mean what the WHATWG Encoding Standard says: gb2312 is gb18030, latin-1 is cp1252. A page
    that declares UTF-16 in ASCII characters is not UTF-16.

    >>> decode("<p>汉语</p>".encode("gbk"), "text/html; charset=gb2312")
    Decoded(text='<p>汉语</p>', encoding='gb18030', source='http')
    >>> decode("<p>café</p>".encode(), "text/html; charset=iso-8859-1").text
    '<p>café</p>'

    Source: https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding;
        we deviate where a declared charset does not fit the bytes.
    """
    bom_encoding, bom = read_bom(body)
    if bom_encoding is not None and bom is not None:
        return Decoded(to_unicode(body[len(bom) :], bom_encoding), bom_encoding, "bom")
    if encoding := _utf16_by_zeros(body):
        return Decoded(to_unicode(body, encoding), encoding, "detected")
    text = _strict(body, "utf-8")
    if text is not None and not _may_be_accident(body, text, content_type):
        return Decoded(text, "utf-8", "utf-8")
    return _decode_legacy(body, content_type, text, host_encoding)


def _may_be_accident(body: bytes, utf8_text: str, content_type: str | None) -> bool:
    """May bytes that are valid UTF-8 be in another encoding?"""
    if _ISO_2022_ESCAPE in body:
        return True
    if not 0 < len(body) - len(utf8_text) <= _FEW_BYTES:
        return False
    said = {http_content_type_encoding(content_type), html_body_declared_encoding(body)}
    return said - {None} != {"utf-8"}


def _decode_legacy(
    body: bytes, content_type: str | None, utf8_text: str | None, host_encoding: str | None
) -> Decoded:
    declared = _declared(body, content_type)
    if utf8_text is not None:
        return _decode_accident(body, declared, utf8_text)
    if (text := _lenient(body, "utf-8")) is not None:
        return Decoded(text, "utf-8", "utf-8")
    is_sure = bool(declared) or _count_foreign(body) > _SHORT_BYTES
    if not is_sure and host_encoding is not None:
        text = _strict(body, host_encoding)
        if text is not None:
            return Decoded(text, host_encoding, "host", is_sure=False)
    strict = [encoding for encoding in declared if _strict(body, encoding) is not None]
    fitting = strict or [encoding for encoding in declared if _lenient(body, encoding) is not None]
    if len(fitting) == 1 and fitting != ["cp1252"]:
        encoding, source = fitting[0], declared[fitting[0]]
    else:
        encoding, source = _vote(body, fitting, declared)
    return Decoded(to_unicode(body, encoding), encoding, source, is_sure=is_sure)


def _count_foreign(body: bytes) -> int:
    """How many bytes are outside ASCII."""
    return len(body) - len(body.decode("ascii", "ignore"))


def _decode_accident(body: bytes, declared: dict[str, str], utf8_text: str) -> Decoded:
    for encoding, source in declared.items():
        if encoding in _MULTIBYTE and (text := _strict(body, encoding)) is not None:
            return Decoded(text, encoding, source)
    if _ISO_2022_ESCAPE in body and _detect(body) == "iso2022_jp":
        return Decoded(to_unicode(body, "iso2022_jp"), "iso2022_jp", "detected")
    return Decoded(utf8_text, "utf-8", "utf-8")


def _vote(body: bytes, fitting: list[str], declared: dict[str, str]) -> tuple[str, str]:
    detected = _detect(body)
    if detected in declared and (not fitting or detected in fitting):
        return detected, declared[detected]
    may_overrule = not fitting or (fitting == ["cp1252"] and detected in _MULTIBYTE)
    if detected is not None and may_overrule and _lenient(body, detected) is not None:
        return detected, "detected"
    if fitting:
        return fitting[0], declared[fitting[0]]
    return ("utf-8" if _lenient(body, "cp1252") is None else "cp1252"), "default"


def _declared(body: bytes, content_type: str | None) -> dict[str, str]:
    """The declared encodings, each with its source, the most trusted first."""
    header_label = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", content_type or "", re.IGNORECASE)
    page_label = _label_anywhere(body)
    candidates = (
        (http_content_type_encoding(content_type), "http"),
        (_resolve(header_label[1]) if header_label else None, "http"),
        (html_body_declared_encoding(body), "meta"),
        (_resolve(page_label) if page_label else None, "meta"),
    )
    declared: dict[str, str] = {}
    for encoding, source in candidates:
        if encoding in _WEB_ENCODINGS and not encoding.startswith("utf"):
            declared.setdefault(encoding, source)
    return declared


def _label_anywhere(body: bytes) -> str | None:
    """The label of the first `<meta>` that has one, however far down, as Beautiful Soup reads it.

    Tag by tag, as its search through a whole page takes quadratic time on unclosed tags.
    """
    for tag in _META.finditer(body):
        if b"charset" not in tag[0].lower():
            continue
        from bs4.dammit import (
            EncodingDetector,  # 0.2 s to import; most crawls need it late or never
        )

        start = tag[0][:_META_BYTES] + b">"
        if label := EncodingDetector.find_declared_encoding(start, is_html=True):
            return label
    return None


def _resolve(label: str) -> str | None:
    return _MISSING_LABELS.get(label.lower()) or resolve_encoding(label)


def _detect(body: bytes) -> str | None:
    """The encoding that the byte frequencies suggest, or None."""
    from resiliparse.parse.encoding import detect_encoding

    label = detect_encoding(body, max_len=_DETECT_BYTES, html5_compatible=False)
    encoding = resolve_encoding(label) if label else None
    return encoding if encoding in _WEB_ENCODINGS else None


def _utf16_by_zeros(body: bytes) -> str | None:
    """UTF-16 without a byte order mark: markup has a zero in every second byte."""
    sample = body[:_UTF16_SAMPLE]
    if b"\0" not in sample:
        return None
    n_even, n_odd = sample[::2].count(0), sample[1::2].count(0)
    if max(n_even, n_odd) < max(8, len(sample) // 8) or min(n_even, n_odd) > len(sample) // 32:
        return None
    return "utf-16-le" if n_odd > n_even else "utf-16-be"


def _strict(body: bytes, encoding: str) -> str | None:
    """The text, or None where a byte does not fit; a character cut off at the end does."""
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        # No character of any web encoding is longer than four bytes.
        if error.start < len(body) - 3 or body[: error.start].isascii():
            return None
        return to_unicode(body, encoding)


def _lenient(body: bytes, encoding: str) -> str | None:
    """The text with U+FFFD for what does not fit, or None if that is too much of it."""
    text = to_unicode(body, encoding)
    n_broken = text.count("\ufffd")
    n_foreign = len(text) - len(text.encode("ascii", "ignore"))
    return text if n_broken <= _MAX_DAMAGE * n_foreign else None
