"""The language of texts."""

import pytest

from dedup.fields.language import language_of

ENGLISH = (
    "The museum keeps what is left of two hundred years of tea in one small harbour town: ledgers"
    " and tins, scales and chests, eleven brown teapots, a model ship, and a garden with bushes."
    " These pages are kept by volunteers. Some of them are old, and some are written twice, because"
    " for a while the school room, the print shop and the museum each had a site of their own. We"
    " have never found the time to clear this up, and visitors write to us that they like it so."
)
GERMAN = (
    "Das Museum bewahrt, was von zweihundert Jahren Tee in einer kleinen Hafenstadt geblieben ist:"
    " Kontobücher und Dosen, Waagen und Kisten, elf braune Kannen und das Modell eines Schiffes."
    " Diese Seiten werden von Freiwilligen gepflegt. Manche sind alt, und manche sind doppelt, weil"
    " eine Zeit lang die Schule, die Druckerei und das Museum eigene Seiten hatten. Wir haben"
    " nie die Zeit gefunden, das zu ordnen, und Besucher schreiben uns, dass es ihnen so gefällt."
)
RUSSIAN = (
    "Музей хранит то, что осталось от двухсот лет торговли чаем в небольшом портовом городе: книги"
    " и жестяные банки, весы и ящики, одиннадцать коричневых чайников и модель корабля."
)
SIMPLIFIED = "博物馆保存着这个小港口城市两百年茶叶历史留下的东西:账簿、铁罐、秤和箱子。"
TRADITIONAL = "博物館保存著這個小港口城市兩百年茶葉歷史留下的東西:賬簿、鐵罐、秤和箱子。"
JAPANESE = "博物館には、この小さな港町の二百年にわたるお茶の歴史から残されたものがあります。"
KOREAN = "박물관은 이 작은 항구 도시에서 이백 년 동안 이어진 차의 역사에서 남은 것을 보관합니다."

CASES = (
    (ENGLISH, "", "en"),
    (ENGLISH, "en_us", "en-US"),
    (ENGLISH, "EN-latn-gb", "en-Latn-GB"),
    (ENGLISH, "de", "en"),  # a theme's language
    (ENGLISH, "zh-CN", "en"),
    (ENGLISH, "no language", "en"),
    (GERMAN, "", "de"),
    (GERMAN, "en", "de"),
    (RUSSIAN, "", "ru"),
    (SIMPLIFIED, "", "zh-Hans"),
    (SIMPLIFIED, "en", "zh-Hans"),
    (SIMPLIFIED, "zh-TW", "zh-Hans"),
    (TRADITIONAL, "zh", "zh-Hant"),
    (JAPANESE, "", "ja"),
    (KOREAN, "ko-kr", "ko-KR"),
    (SIMPLIFIED + " import asyncio; print('hello')", "", "zh-Hans"),
    ("Too short.", "", None),
    ("Too short.", "en", "en"),
    ("短", "zh-tw", "zh-Hans"),
    ("Too short.", "ru", None),
    ("Чай", "ru", "ru"),
    ("12 345 67", "en", None),
    ("", "en", None),
)


@pytest.mark.parametrize(("text", "declared", "expected"), CASES)
def test_language_is_declared_and_seen(text: str, declared: str, expected: str | None) -> None:
    assert language_of(text, declared) == expected


def test_a_text_between_two_languages_has_none() -> None:
    assert language_of("casa rosa vino mesa sol luna mar rio tren" * 4) is None
