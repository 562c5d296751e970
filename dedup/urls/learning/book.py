"""The learned rules of the hosts at hand, in memory, and what of them is still to be written."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

from dedup.urls.learning.life import HostRule
from dedup.urls.learning.records import UrlKnowledge
from dedup.urls.parts import host_without_port

_MAX_RULES = 200
"""Of a host. Names of parameters may be made up without end."""

_HOSTS_IN_MEMORY = 5_000


class RuleBook:
    """The rules by host and name. Those of 5,000 hosts stay in memory."""

    def __init__(self, knowledge: UrlKnowledge) -> None:
        self._knowledge = knowledge
        self._hosts: OrderedDict[str, dict[str, HostRule]] = OrderedDict()
        self._changed: dict[int, HostRule] = {}

    def rules(self, host: str) -> dict[str, HostRule]:
        """Those of a host, by name."""
        found = self._hosts.get(host)
        if found is None:
            if len(self._hosts) >= _HOSTS_IN_MEMORY:
                self.save()
                self._hosts.popitem(last=False)
            found = {rule.name: rule for rule in self._knowledge.rules(host)}
            self._hosts[host] = found
        return found

    def rule(self, name: str, host: str) -> HostRule | None:
        """A rule of a host, new where there is none; None: the host has too many."""
        rules = self.rules(host)
        rule = rules.get(name)
        if rule is None and len(rules) < _MAX_RULES:
            rule = rules[name] = HostRule(0, host, name)
            self._knowledge.put_rules([rule])  # which gives it its number
        return rule

    def forget(self, names: Collection[str]) -> None:
        """Write what has changed; read the rules of hosts of these names anew, at whatever port."""
        self.save()
        for host in [each for each in self._hosts if host_without_port(each) in names]:
            del self._hosts[host]

    def change(self, rule: HostRule) -> None:
        """Note that a rule is to be written."""
        self._changed[rule.number] = rule

    def save(self) -> None:
        """Write what has changed."""
        if self._changed:
            self._knowledge.put_rules(list(self._changed.values()))
            self._changed.clear()
