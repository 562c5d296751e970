import itertools

import pytest

from dedup.urls import RULES, TRACKING_PARAMETERS, UrlRules, canonical_url

HEX = "0123456789abcdef0123456789abcdef"

CASES = [
    # rule, URL, expected, why
    ("tracking", "http://a.com/?utm_source=x&id=1", "http://a.com/?id=1", "campaign"),
    ("tracking", "http://a.com/?gclid=x&fbclid=y&spm=z", "http://a.com/", "nothing left"),
    ("tracking", "http://a.com/?%75tm_source=x", "http://a.com/", "a name in disguise"),
    ("tracking", "http://a.com/?utm_source", "http://a.com/", "without a value"),
    ("tracking", "http://a.com/?ref=x", "http://a.com/?ref=x", "ref may choose the page"),
    ("tracking", "http://a.com/?source=x", "http://a.com/?source=x", "so may source"),
    ("tracking", "http://a.com/?id=utm_source", "http://a.com/?id=utm_source", "a value"),
    ("tracking", "http://a.com/?my_gclid=1", "http://a.com/?my_gclid=1", "longer name"),
    ("session", "http://a.com/a;jsessionid=1.b?c=1", "http://a.com/a?c=1", "servlet"),
    (
        "session",
        "http://a.com/a;JSESSIONID=1;v=2/b",
        "http://a.com/a;v=2/b",
        "other parameter kept",
    ),
    (
        "session",
        "http://a.com/x/..;jsessionid=1/b",
        "http://a.com/b",
        "a dot segment comes to light",
    ),
    ("session", f"http://a.com/(S({HEX}))/b?c=1", "http://a.com/b?c=1", "ASP.NET, in the path"),
    ("session", f"http://a.com/x/(A({HEX})S({HEX}))/", "http://a.com/x/", "with another ticket"),
    ("session", "http://a.com/(S(short))/b", "http://a.com/(S(short))/b", "no token"),
    ("session", f"http://a.com/(S({HEX}))", f"http://a.com/(S({HEX}))", "no folder"),
    ("session", "http://a.com/?PHPSESSID=1&a=1", "http://a.com/?a=1", "PHP"),
    ("session", "http://a.com/?ASPSESSIONIDQABC=1", "http://a.com/", "ASP"),
    ("session", "http://a.com/?CFID=1&CFTOKEN=2", "http://a.com/", "ColdFusion"),
    ("session", f"http://a.com/?sid={HEX}", "http://a.com/", "token"),
    ("session", f"http://a.com/?sessionid={HEX}", "http://a.com/", "token"),
    ("session", "http://a.com/?sid=1234", "http://a.com/?sid=1234", "a number"),
    ("session", f"http://a.com/?sid={'9' * 32}", f"http://a.com/?sid={'9' * 32}", "a long number"),
    ("session", f"http://a.com/?sid={'a' * 32}", f"http://a.com/?sid={'a' * 32}", "a long word"),
    ("session", f"http://a.com/?id={HEX}", f"http://a.com/?id={HEX}", "another name"),
    ("slash", "http://a.com/a/", "http://a.com/a", "directory"),
    ("slash", "http://a.com/a/?b=1", "http://a.com/a?b=1", "before a query"),
    ("slash", "http://a.com/", "http://a.com/", "the root"),
    ("slash", "http://a.com/a//", "http://a.com/a//", "an empty segment"),
    ("index", "http://a.com/a/index.html", "http://a.com/a/", "page of a directory"),
    ("index", "http://a.com/Default.aspx?a=1", "http://a.com/?a=1", "IIS, before a query"),
    ("index", "http://a.com/index.php/a", "http://a.com/index.php/a", "not at the end"),
    ("index", "http://a.com/myindex.html", "http://a.com/myindex.html", "longer name"),
    ("index", "http://a.com/index.xml", "http://a.com/index.xml", "another ending"),
    ("index", "http://a.com/default.php", "http://a.com/default.php", "not a usual index page"),
    ("www", "http://www.a.com/", "http://a.com/", "leading www"),
    ("www", "http://www.www.a.com/", "http://a.com/", "twice"),
    ("www", "http://www2.a.com/", "http://www2.a.com/", "another host"),
    ("www", "http://www.com/", "http://www.com/", "the domain is called www"),
    ("https", "http://a.com/", "https://a.com/", "protocol"),
    ("https", "http://a.com:8080/", "http://a.com:8080/", "a port answers one protocol"),
    ("https", "http://a.com:443/", "http://a.com:443/", "this one as well"),
    ("drop:sort", "http://a.com/?a=1&sort=up&sort", "http://a.com/?a=1", "every one of the name"),
    ("drop:sort", "http://a.com/?s%6Frt=1", "http://a.com/", "a name in disguise"),
    ("drop:sort", "http://a.com/?Sort=1", "http://a.com/?Sort=1", "another name"),
    ("drop:a b", "http://a.com/?a+b=1", "http://a.com/", "decoded"),
]


@pytest.mark.parametrize(
    ("rule", "url", "expected", "why"), CASES, ids=[f"{row[0]}-{row[3]}" for row in CASES]
)
def test_rule(rule, url, expected, why):
    assert canonical_url(url, [rule]) == expected
    assert canonical_url(expected, [rule]) == expected


@pytest.mark.parametrize("name", ["msclkid", "yclid", "mc_cid", "mc_eid", "_ga", "igshid", "dclid"])
def test_tracking_parameters_hold_the_usual_ones(name):
    assert name in TRACKING_PARAMETERS


@pytest.mark.parametrize("name", ["ref", "source", "id", "campaign", "cid", "page", "q"])
def test_tracking_parameters_hold_no_everyday_names(name):
    assert name not in TRACKING_PARAMETERS


def test_rules_give_the_same_in_whatever_order_they_are_named():
    url = f"http://www.a.com/x/index.html/;jsessionid=1?utm_id=1&sid={HEX}&b=2"
    spellings = {canonical_url(url, names) for names in itertools.permutations(RULES)}
    assert spellings == {"https://a.com/x?b=2"}


def test_index_and_slash_go_on_until_nothing_moves():
    url = "http://a.com/index.html/index.html/"
    assert canonical_url(url, ["index", "slash"]) == "http://a.com/"


def test_rules_are_off_unless_named():
    url = "http://www.a.com/a/index.html?utm_source=x&PHPSESSID=1"
    assert canonical_url(url, UrlRules()) == canonical_url(url, UrlRules(["https"])).replace(
        "s", "", 1
    )


def test_one_rule_may_be_named_by_itself():
    assert UrlRules("slash").names == ("slash",)


@pytest.mark.parametrize("names", [["slsh"], "slsh", ["slash", "slsh"]])
def test_an_unknown_rule_is_refused_with_a_list_of_the_known(names):
    expected = "among https, www, session, tracking, index, slash, drop:NAME, .*, got 'slsh'"
    with pytest.raises(ValueError, match=expected):
        UrlRules(names)


def test_every_rule_says_when_it_is_safe():
    assert all("afe" in (rule.__doc__ or "") for rule in RULES.values())


@pytest.mark.parametrize(
    ("rule", "url", "expected"),
    [
        ("bare-query", "http://a.example/x?y/z.html", "http://a.example/x"),
        ("bare-query", "http://a.example/x?y=1", "http://a.example/x?y=1"),
        ("order", "http://a.example/x?a=2&a=1", "http://a.example/x?a=1&a=2"),
        ("drop:x@/news/", "http://a.example/news/1?x=1", "http://a.example/news/1"),
        ("drop:x@/news/", "http://a.example/shop/1?x=1", "http://a.example/shop/1?x=1"),
        ("folder:/print/=/", "http://a.example/print/a", "http://a.example/a"),
        ("host:m.a.example=a.example", "http://m.a.example/a", "http://a.example/a"),
    ],
)
def test_rules_that_name_what_they_are_about(rule: str, url: str, expected: str) -> None:
    assert canonical_url(url, [rule]) == expected
    assert canonical_url(expected, [rule]) == expected


@pytest.mark.parametrize(
    "name", ["folder:/=/print/", "host:a.example=m.a.example", "folder:a=b", "host:a=", "folder:"]
)
def test_conflicting_rule_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="rules must be among"):
        UrlRules([name])
