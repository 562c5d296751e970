"""Dates in lines, as pages write them."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = "january february march april may june july august september october november december"
MONTHS = "|".join([*_NAMES.split(), *(name[:3] for name in _NAMES.split()), "sept"])
"""In English, of a regular expression for lower case."""

_YEAR, _DAY, _MONTH = r"(?:19|20)\d\d", r"\d{1,2}", rf"(?:{MONTHS})"
_NTH = rf"{_DAY}(?:st|nd|rd|th)?"
_DATES = (
    rf"{_YEAR}([-/.]){_DAY}\1{_DAY}",
    rf"{_DAY}([-/.]){_DAY}\2{_YEAR}",
    rf"{_YEAR}\s?年\s?{_DAY}\s?月\s?{_DAY}\s?日",
    rf"\b{_MONTH}\.?\s{_NTH},?\s{_YEAR}",
    rf"{_NTH}\.?[\s-]{_MONTH}\.?,?[\s-]{_YEAR}",
)
_DATE = re.compile(rf"(?<!\d)(?:{'|'.join(_DATES)})(?!\d)")
_AGE = (
    r"(?:\b(?:about|almost|over|less\sthan|more\sthan)\s)?(?:(?<!\d)\d+|\ban?)\s?"
    r"(?:second|minute|hour|day|week|month|year)s?\sago\b"
    r"|(?<!\d)\d+\s?(?:秒|分钟|小时|天|周|个月|年)前"
)
"""A time before now, of a regular expression for lower case."""

_AGES = re.compile(_AGE)
_FURNITURE = re.compile(rf"{_AGE}|©|\(c\)|copyright|版[权權]|著作権")
_TIMES = (
    r"\d{1,2}:\d\d(?::\d\d)?(?!\d)",
    _AGE,
    rf"{_YEAR}[-/.年]\s?{_DAY}(?:(?!\d)|月)",
    rf"\b{_MONTH}\.?\s{_NTH}(?!\d)",
    rf"{_NTH}\.?[\s-]{_MONTH}\b",
    rf"{_YEAR}(?![.,]?\d)",
)
"""Of a day, before now, or dates that lack a part."""

_MOMENT = re.compile(rf"(?<![\d.,])(?:{'|'.join((*_DATES, *_TIMES))})")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]")
_MAX_DATE = 40
_MAX_BEHIND = 24
"""Characters that may stand behind the date of an update: an author, links to neighbours."""

_COUNTS = (
    r"(?:\b(?:view(?:s|ed)?|visit(?:s|ed|ors?)?|reads?|hits|likes?|votes?|points?|comments?"
    r"|repl(?:y|ies)|answers?|shares?|downloads?|installs?|stars?|forks?|followers|subscribers"
    r"|members|users|online|posts?|threads?|messages|ratings?|reviews?|score|sold|bought|purchased"
    r"|orders?|bids?|watching|watchers|applicants?|applications?|aufrufe|besucher|kommentare?"
    r"|antworten|beiträge|mitglieder|bewertungen|verkauft|gekauft|vues|commentaires?|réponses?"
    r"|avis|membres|vendus?|vistas|visitas|comentarios?|respuestas?|vendidos?)\b"
    r"|[阅閱][读讀]|[浏瀏][览覽]|点击|點擊|查看|[评評][论論]|回[复覆復]|[点點]?[赞贊讚]|收藏|[转轉][发發]|下[载載]"
    r"|[关關]注|粉[丝絲]|人[气氣]|[热熱]度|次|已售|售出|[销銷]量|月[销銷]|成交|閲覧|コメント|いいね|조회|댓글"
    r"|просмотр|комментар)"
)
COUNTS = re.compile(_COUNTS)
"""Words in lower case that say what counters count."""

_MONEY = r"$\u00a2-\u00a5\u20a0-\u20c0\uffe1\uffe5"
_COUNT = (
    rf"(?<![\d{_MONEY}])(?<!\d[.,])(?<![{_MONEY}]\s)(?:\d++(?:[.,]\d{{3}}(?!\d))*+(?![.,]\d)"
    r"|\d++(?:[.,]\d++)?+(?=\s?[km万萬](?![a-z])))"
)
"""A whole number without a sign of money, or one in thousands."""

_IN_THOUSANDS = r"(?:\s?[km万萬])?"
_COUNTED = re.compile(
    rf"{_COUNT}{_IN_THOUSANDS}(?=\s?[个個条條人件位篇]?\s?{_COUNTS})"
    rf"|{_COUNTS}[数數量]?\s?(?:[:：(（]\s?{_COUNT}|{_COUNT}{_IN_THOUSANDS}(?!\s?[^\W\d_]))"
)
"""A number with such a word beside it. A word before it may be of another: `11 likes 3 left`."""

_ON_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s)?"
_ENGLISH = (
    r"(?:(?:(?:this|the)\s)?(?:page|document|article|post|file)\s(?:(?:was|has\sbeen)\s)?)?"
    r"(?:(?:last|latest)\s(?:updated?|modified|modification|edited|edit|revised|revision|changed?)"
    r"|(?:last\s)?(?:updated|modified|generated))"
    rf"(?:\s(?:on|at|date))?\s?:?\s?{_ON_WEEKDAY}"
)
_CHINESE = (
    r"(?:本[页頁文]面?)?"
    r"(?:(?:最[后後近]|上次)(?:更新|修改|修订|修訂|编辑|編輯)(?:[于於]|时间|時間|日期)?"
    r"|(?:更新|修改|生成)(?:[于於]|时间|時間|日期))\s?[:：]?\s?"
)
_UPDATED = re.compile(rf"[^\w\n]{{0,3}}(?:{_ENGLISH}|{_CHINESE})")
"""Words that tell when a page was updated; a mere `update` may stand before what is new."""

_TIME = (
    r"(?:\s?[(（](?:星期|周|週)\w[)）])?"
    r",?\s?(?:t|at\s)?\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]\.?m\.?)?(?:\s?\(?(?:z|utc|gmt|[a-z]{1,3}t)\)?)?"
)
_AUTHOR = r"(?:,?\sby:?\s|,?\s?(?:由|作者[:：]?)\s?)(?!\w+ing\s)(?:[^.:;。：；]|(?<=\b\w)\.|\.$)+"
_BEHIND = re.compile(rf"(?:{_TIME})?(?:{_AUTHOR})?\W*")
_COMMIT = re.compile(r"\s?[:：]\s?[^\n]*\([0-9a-f]{7,40}\)\s*")
"""What the commit says, and the first digits of its hash: by Docsy, a theme."""


def update_date(line: str) -> str | None:
    """The date of a line in lower case that tells when its page was updated, and no more.

    >>> update_date("last updated on dec 16, 2022 by me")
    'dec 16, 2022'
    >>> update_date("last modified dec 16, 2022: add links (#7) (0b1c2d3)")
    'dec 16, 2022'
    >>> update_date("updated on dec 16, 2022: two new prices")
    """
    date = _date_of_update(line)
    if date is None:
        return None
    is_short = len(line) - date.end() <= _MAX_BEHIND
    if (is_short and _BEHIND.fullmatch(line, date.end())) or _COMMIT.fullmatch(line, date.end()):
        return date[0]
    return None


def _date_of_update(line: str) -> re.Match[str] | None:
    words = _UPDATED.match(line)
    return words and _DATE.match(line, words.end())


def up_to_date(line: str) -> str:
    """A line in lower case without the few words behind a date that some words introduce.

    Nor with the commit behind that of an update.

    >>> up_to_date("last updated on dec 16, 2022 by me")
    'last updated on dec 16, 2022'
    """
    update = _date_of_update(line)
    if update and _COMMIT.fullmatch(line, update.end()):
        return line[: update.end()]
    for found in _DATE.finditer(line, max(0, len(line) - _MAX_BEHIND - _MAX_DATE)):
        if len(line) - found.end() <= _MAX_BEHIND and _WORD.search(line, 0, found.start()):
            return line[: found.end()]
    return line


def is_date(line: str) -> bool:
    """Is a line in lower case a date, and nothing else?"""
    return _DATE.fullmatch(line.strip()) is not None


def without_ages(text: str, instead: str = "") -> str:
    """A text in lower case without what differs by when it is read.

    >>> without_ages("said ann, about 3 months ago: no")
    'said ann, : no'
    """
    return _AGES.sub(instead, text) if "ago" in text or "前" in text else text


def without_counts(line: str) -> str:
    """A line in lower case without counters, whatever they count.

    >>> without_counts("$25.00 · 5 likes") == without_counts("$25.00 · 1.2k likes")
    True
    """
    return COUNTS.sub("", _COUNTED.sub("", line))


def with_times(line: str) -> list[str]:
    """The numbers of a line in lower case, if it says something of a time: when something is.

    None are given of dates and times alone, of when the page was updated, of how long ago, and of
    the years of a copyright.

    >>> with_times("open from 9:00 to 17:30"), with_times("2026-05-03")
    (['9', '00', '17', '30'], [])
    """
    is_furniture = update_date(line) or _FURNITURE.search(line)
    has_words = _WORD.search(_MOMENT.sub(" ", line))
    return _NUMBER.findall(line) if has_words and not is_furniture else []


class Number(NamedTuple):
    """A number of a line; `is_count`: does a word beside it say what it counts?"""

    digits: str
    is_count: bool


def numbers(line: str) -> list[Number]:
    """The numbers of a line in lower case, without those of dates and times.

    >>> [number.digits for number in numbers("may 3, 2024: 1,200 for $3.50")]
    ['1,200', '3.50']
    >>> [number.is_count for number in numbers("$3.50, 2 left · 11 likes, comments: 2007")]
    [False, False, True, True]
    """
    counts = {at for found in _COUNTED.finditer(line) for at in range(*found.span())}

    def without_moment(found: re.Match[str]) -> str:
        is_count = found.start() in counts and found[0].isdecimal()  # it may look like a year
        return found[0] if is_count else " " * len(found[0])

    own = _MOMENT.sub(without_moment, line)
    return [Number(found[0], found.start() in counts) for found in _NUMBER.finditer(own)]
