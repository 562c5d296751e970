"""Learned URL rules and the forms of addresses, in memory."""

from collections.abc import Iterable, Sequence

from dedup.urls.learning.life import HostRule


class MemoryUrlKnowledge:
    """See `dedup.urls.learning.records.UrlKnowledge`."""

    def __init__(self) -> None:
        self._rules: dict[int, tuple[str, str, str]] = {}
        self._forms: dict[bytes, int | None] = {}

    def rules(self, host: str) -> list[HostRule]:
        return [rule for rule in self._each() if rule.host == host]

    def all_rules(self) -> list[HostRule]:
        return sorted(self._each(), key=lambda rule: (rule.host, rule.number))

    def put_rules(self, rules: Sequence[HostRule]) -> None:
        for rule in rules:
            rule.number = rule.number or len(self._rules) + 1
            self._rules[rule.number] = rule.host, rule.name, rule.to_json()

    def forms(self, keys: Sequence[bytes]) -> dict[bytes, int | None]:
        return {key: self._forms[key] for key in keys if key in self._forms}

    def add_forms(self, forms: Iterable[tuple[bytes, int | None]]) -> None:
        for key, content in forms:
            if self._forms.get(key) is None:
                self._forms[key] = content

    def _each(self) -> list[HostRule]:
        return [HostRule.from_json(number, *row) for number, row in self._rules.items()]
