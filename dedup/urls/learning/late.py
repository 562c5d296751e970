"""Knowledge that is written later: where others write, too, one does so in turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dedup.urls.learning.life import HostRule
from dedup.urls.learning.records import UrlKnowledge


class LateUrlKnowledge:
    """`UrlKnowledge` of a job that several processes share.

    Forms, and changes of rules, are kept until `write` is called, in the unit in which this process
    may write. A new rule is written at once, as the store gives its number.
    """

    def __init__(self, knowledge: UrlKnowledge) -> None:
        self._knowledge = knowledge
        self._rules: dict[int, HostRule] = {}
        self._forms: dict[bytes, int | None] = {}

    def rules(self, host: str) -> list[HostRule]:
        return [self._rules.get(each.number, each) for each in self._knowledge.rules(host)]

    def all_rules(self) -> list[HostRule]:
        return self._knowledge.all_rules()

    def put_rules(self, rules: Sequence[HostRule]) -> None:
        self._knowledge.put_rules([each for each in rules if not each.number])
        self._rules.update({each.number: each for each in rules})

    def forms(self, keys: Sequence[bytes]) -> dict[bytes, int | None]:
        late = {key: self._forms[key] for key in keys if key in self._forms}
        known = self._knowledge.forms([key for key in keys if late.get(key) is None])
        return late | known

    def add_forms(self, forms: Iterable[tuple[bytes, int | None]]) -> None:
        for key, page in forms:
            if self._forms.get(key) is None:
                self._forms[key] = page

    def write(self) -> None:
        """Write what is kept."""
        if self._rules:
            self._knowledge.put_rules(list(self._rules.values()))
        if self._forms:
            self._knowledge.add_forms(self._forms.items())
        self._rules, self._forms = {}, {}
