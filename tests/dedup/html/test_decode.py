import codecs
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.html import decode

CHINESE = "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"
TAIWAN = "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神對待。"
JAPANESE = "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
KOREAN = (
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 이성과 양심을 부여받았다."
)
RUSSIAN = "Все люди рождаются свободными и равными в своем достоинстве и правах."
FRENCH = "Tous les êtres humains naissent libres et égaux en dignité et en droits, doués de raison."


def page(text: str, head: str = "") -> str:
    return f"<!DOCTYPE html><html><head>{head}<title>x</title></head><body><p>{text}</p></body>"


@pytest.mark.parametrize(
    ("content_type", "head", "text", "codec", "expected"),
    [
        ("text/html; charset=gb2312", "", CHINESE + "镕", "gbk", ("gb18030", "http")),
        ("text/html; charset=x-gbk", "", CHINESE, "gbk", ("gb18030", "http")),
        ("text/html", '<meta charset="gbk">', CHINESE, "gbk", ("gb18030", "meta")),
        (None, "<meta http-equiv=Content-Type content='text/html; charset=big5'>", TAIWAN, "big5",
         ("big5hkscs", "meta")),
        # without http-equiv, and far down
        (None, "<!--" + 5000 * "-" + "--><meta content='text/html; charset=koi8-r'>", RUSSIAN,
         "koi8-r", ("koi8-r", "meta")),
        (None, '<meta charset="iso-8859-1">', FRENCH + " “ ”", "cp1252", ("cp1252", "meta")),
        # the header is believed before the page, unless the bytes speak for the page
        ("text/html; charset=windows-1251", "<meta charset=koi8-r>", RUSSIAN, "cp1251",
         ("cp1251", "http")),
        ("text/html; charset=iso-8859-1", "<meta charset=gb2312>", CHINESE, "gbk",
         ("gb18030", "meta")),
        # the server's default says Latin, the bytes do not
        ("text/html; charset=iso-8859-1", "", CHINESE, "gbk", ("gb18030", "detected")),
        # declared wrongly
        ("text/html; charset=utf-8", "", CHINESE, "gbk", ("gb18030", "detected")),
        ("text/html; charset=iso-8859-1", "", FRENCH, "utf-8", ("utf-8", "utf-8")),
        ("text/html; charset=gbk", "", CHINESE, "utf-8", ("utf-8", "utf-8")),
        (None, "<meta charset=utf-16>", "plain", "ascii", ("utf-8", "utf-8")),
        # no codec for text, or one that makes lone surrogates
        ("text/html; charset=unicode_escape", "", r"\ud800", "ascii", ("utf-8", "utf-8")),
        ("text/html; charset=rot13", "", "plain", "ascii", ("utf-8", "utf-8")),
        # declared nowhere
        (None, "", CHINESE, "gbk", ("gb18030", "detected")),
        (None, "", JAPANESE, "shift_jis", ("cp932", "detected")),
        (None, "", JAPANESE, "euc_jp", ("euc_jp", "detected")),
        (None, "", JAPANESE, "iso2022_jp", ("iso2022_jp", "detected")),
        (None, "", KOREAN, "cp949", ("cp949", "detected")),
        (None, "", RUSSIAN, "cp1251", ("cp1251", "detected")),
        (None, "", CHINESE, "utf-16-le", ("utf-16-le", "detected")),
        (None, "", FRENCH, "utf-16-be", ("utf-16-be", "detected")),
    ],
)  # fmt: skip
def test_decode_finds_the_encoding(content_type, head, text, codec, expected):
    html = page(text, head)
    decoded = decode(html.encode(codec), content_type)
    assert decoded.text == html
    assert (decoded.encoding, decoded.source) == expected


def test_decode_xml_declaration():
    html = '<?xml version="1.0" encoding="euc-jp"?>' + page(JAPANESE)
    assert decode(html.encode("euc_jp")).source == "meta"


@pytest.mark.parametrize(
    ("bom", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_decode_byte_order_mark_beats_the_header(bom, codec):
    decoded = decode(bom + page(CHINESE).encode(codec), "text/html; charset=gbk")
    assert (decoded.text, decoded.encoding, decoded.source) == (page(CHINESE), codec, "bom")


@pytest.mark.parametrize(("codec", "label"), [("utf-8", "utf-8"), ("gb18030", "gbk")])
def test_decode_few_broken_bytes_stay_in_the_declared_encoding(codec, label):
    body = page(CHINESE * 10 + "|").encode(codec).replace(b"|", b"\xff<")
    decoded = decode(body, f"text/html; charset={label}")
    assert decoded.encoding == codec
    assert decoded.text.count("\ufffd") == 1
    assert decoded.text.replace("\ufffd<", "|") == page(CHINESE * 10 + "|")


@pytest.mark.parametrize(("codec", "label"), [("utf-8", "utf-8"), ("gb18030", "gbk")])
def test_decode_character_cut_off_at_the_end(codec, label):
    decoded = decode(CHINESE.encode(codec)[:-1], f"text/html; charset={label}")
    assert (decoded.text, decoded.encoding) == (CHINESE[:-1] + "\ufffd", codec)


def test_decode_gbk_that_happens_to_be_valid_utf8_follows_the_declaration():
    body = "<p>漏</p>".encode("gbk")  # the bytes of "©" in UTF-8
    assert decode(body, "text/html; charset=gbk").text == "<p>漏</p>"
    assert decode(body).text == "<p>©</p>"


@pytest.mark.parametrize(
    ("content_type", "head", "encoding"),
    [
        ("text/html; charset=utf-8", "", "utf-8"),
        (None, "<meta charset=utf-8>", "utf-8"),
        # header and page disagree: the page may know better than its server's default
        ("text/html; charset=utf-8", "<meta charset=gbk>", "gb18030"),
    ],
)
def test_decode_few_bytes_that_are_valid_utf8_follow_what_is_declared(content_type, head, encoding):
    body = page("¶", head).encode()
    assert decode(body, content_type).encoding == encoding


def test_decode_few_bytes_declared_as_utf8_are_not_searched_for_more(monkeypatch):
    module = sys.modules["dedup.html.decode"]  # the function of that name hides it
    monkeypatch.setattr(module, "_declared", None)  # a search of all the page: 5 ms
    assert decode(page("¶").encode(), "text/html; charset=utf-8").text == page("¶")


def test_decode_euro_sign_of_old_gbk():
    body = page(CHINESE).encode("gbk") + b"\x80"
    assert decode(body, "text/html; charset=gbk").text.endswith("€")


def test_decode_keeps_nul():
    assert decode(b"<p>a\0b</p>").text == "<p>a\0b</p>"


def test_decode_single_accent_without_declaration_is_read_as_western():
    assert decode(b"<p>caf\xe9</p>").text == "<p>café</p>"


@settings(deadline=None, max_examples=150)
@given(st.binary(max_size=200), st.sampled_from([None, "a", "gbk", "utf-16", "utf-7", "euc-kr"]))
def test_decode_never_raises_nor_makes_lone_surrogates(body, label):
    decoded = decode(body, label and f"text/html; charset={label}")
    decoded.text.encode()
    "".encode(decoded.encoding)


@settings(deadline=None, max_examples=100)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")))
def test_decode_declared_utf8_round_trip(text):
    assert decode(text.encode(), "text/html; charset=utf-8").text == text


SHORT = "茶馆开门"  # four characters: for the frequencies of bytes it is anything


def test_short_page_without_a_declaration_is_in_the_encoding_of_its_host():
    body = page(SHORT).encode("gb18030")
    alone = decode(body)
    assert (alone.encoding, alone.is_sure) != ("gb18030", True)
    decoded = decode(body, host_encoding="gb18030")
    assert (decoded.text, decoded.source) == (page(SHORT), "host")
    assert not decoded.is_sure  # it tells nothing of other pages


@pytest.mark.parametrize(
    ("body", "content_type", "encoding"),
    [
        (page("茶樓").encode("big5"), "text/html; charset=big5", "big5hkscs"),  # it is declared
        (page("<meta charset=big5>茶樓").encode("big5"), None, "big5hkscs"),
        (page(SHORT).encode(), None, "utf-8"),
        (page(RUSSIAN * 3).encode("cp1251"), None, "cp1251"),  # long enough to tell by
        (page("é é é").encode("cp1252"), None, decode(page("é é é").encode("cp1252")).encoding),
    ],
)
def test_encoding_of_the_host_counts_only_where_the_page_tells_none_and_fits(
    body, content_type, encoding
):
    assert decode(body, content_type, host_encoding="gb18030").encoding == encoding


def test_encoding_is_sure_where_declared_or_detected_from_much():
    assert decode(page(CHINESE * 3).encode("gbk")).is_sure
    assert decode(page(SHORT).encode("gbk"), "text/html; charset=gbk").is_sure
    assert not decode(page(SHORT).encode("gbk")).is_sure
