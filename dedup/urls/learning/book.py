"""The learned rules of the hosts at hand, in memory, and what of them is still to be written."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

from dedup.urls.learning.life import HostRule
from dedup.urls.learning.records import UrlKnowledge
from dedup.urls.parts import host_without_port

_MAX_RULES = 200
"""Of a host. Names of parameters may be made up without end."""

_IN_MEMORY = 50_000
"""Hosts and rules together; a rule takes some 600 bytes. Hosts may be made up without end, too."""


class RuleBook:
    """The rules by host and name. Those of the hosts that were asked for last stay in memory."""

    def __init__(self, knowledge: UrlKnowledge) -> None:
        self._knowledge = knowledge
        self._hosts: OrderedDict[str, dict[str, HostRule]] = OrderedDict()
        self._changed: dict[int, HostRule] = {}
        self._n_in_memory = 0

    def rules(self, host: str) -> dict[str, HostRule]:
        """Those of a host, by name."""
        found = self._hosts.get(host)
        if found is None:
            found = {rule.name: rule for rule in self._knowledge.rules(host)}
            self._hosts[host] = found
            self._n_in_memory += 1 + len(found)
            self._make_room()
        else:
            self._hosts.move_to_end(host)
        return found

    def rule(self, name: str, host: str) -> HostRule | None:
        """A rule of a host, new where there is none; None: the host has too many."""
        rules = self.rules(host)
        rule = rules.get(name)
        if rule is None and len(rules) < _MAX_RULES:
            rule = rules[name] = HostRule(0, host, name)
            self._knowledge.put_rules([rule])  # which gives it its number
            self._n_in_memory += 1
        return rule

    def forget(self, names: Collection[str]) -> None:
        """Write what has changed; read the rules of hosts of these names anew, at whatever port."""
        self.save()
        for host in [each for each in self._hosts if host_without_port(each) in names]:
            self._n_in_memory -= 1 + len(self._hosts.pop(host))

    def change(self, rule: HostRule) -> None:
        """Note that a rule is to be written."""
        self._changed[rule.number] = rule

    def _make_room(self) -> None:
        """Forget hosts, those first that were asked for longest ago; a page has up to four."""
        while self._n_in_memory > _IN_MEMORY and len(self._hosts) > 4:
            self.save()
            self._n_in_memory -= 1 + len(self._hosts.popitem(last=False)[1])

    def save(self) -> None:
        """Write what has changed."""
        if self._changed:
            self._knowledge.put_rules(list(self._changed.values()))
            self._changed.clear()
