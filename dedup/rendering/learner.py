"""Learns of each template of a host whether its pages have to be rendered.

The first pages of a template are read both ways: raw, and rendered. If the raw pages lack nothing,
the template is static: its other pages are not rendered, but some are, as audits. One page that
lacks something is enough for the pages of the template to be rendered from then on, and for those
that were read since the last audit that found nothing, to be fetched again. If one of the next
pages lacks nothing, the template has not changed, but has pages of both kinds: then all are fetched
again, because audits may have met the others alone. A rendering that fails teaches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from xxhash import xxh3_64_intdigest

from dedup.rendering.sketch import RawTemplate, Sketch, are_alike

Kind = Literal["full", "thin", "shell", "route"]
"""Of a raw page: with text, with hardly any, a shell, or at a route (see `dedup.urls.routes`), so
that its raw text is that of another page. What scripts do differs between these even where the
markup is alike, so each is a template of its own."""

Why = Literal["always", "shell", "template", "first", "audit", "no_scripts", "static", "duplicate"]
"""Why a page was rendered (the first five), or was not; or `failed: ` and a reason."""

FIRST_PAGES = 3
"""Pages of a template that are read both ways before it counts as static."""

_KNOWN_TEMPLATES = 3
"""Static templates of a host, and none that is not, after which one page of another is enough: a
site that needs no browser has many templates of a few pages."""

AUDIT_PAGES = 33
"""Of so many pages of a static template one is rendered, at a place that its number decides: 3%. So
what changes half-way is found within 65 pages."""

_SURE_PAGES = 3
"""Of so many pages that lack something, and none that does not, a template has changed half-way."""

MIN_RESEMBLANCE = 0.5
"""Of the sketches of pages with one template."""

_MAX_TEMPLATES = 200
"""Of a host; then the one with the most equal hashes counts."""

_MAX_FAILURES = 3
"""In a row, after which a template's undecided pages are rendered as audits are, not one by one."""


@dataclass(slots=True)
class Template:
    """What is known of the pages of a template.

    Attributes:
        number: within its host, from 0 on.
        n_same: pages of which the raw form lacked nothing.
        n_other: pages of which it lacked something.
        n_open: pages that are being rendered to find out.
        n_static: pages that were not rendered but for an audit.
        period: audits so far; a page belongs to the period in which it was read.
        since: the period that the last audit that found nothing began, so that earlier pages need
            not be rendered.
        n_failed: renderings that have failed since the last that did not.
        is_stored: is its sketch in the job's store?
    """

    number: int
    kind: Kind
    sketch: Sketch
    n_same: int = 0
    n_other: int = 0
    n_open: int = 0
    n_static: int = 0
    n_failed: int = 0
    period: int = 0
    since: int = 0
    is_stored: bool = False

    @property
    def is_dynamic(self) -> bool:
        """Are all of its pages rendered now?"""
        return self.n_other > 0


class Choice(NamedTuple):
    """What is done with a page.

    Attributes:
        template: None: it is not asked for.
        is_rendered: None: it has to wait until more is known of its template.
        period: see `Template`.
    """

    template: Template | None
    is_rendered: bool | None
    why: Why
    period: int = 0


class HostTemplates:
    """The templates of a host. A page has the first that is like it.

    Args:
        known: those of which something is known already.
    """

    def __init__(self, known: Iterable[Template] = ()) -> None:
        self._templates = {each.number: each for each in known}

    def choose(self, raw: RawTemplate, kind: Kind, *, is_copy: Callable[[], bool]) -> Choice:
        """Choose how a page is read; of one that is rendered, `learn` has to be called.

        `is_copy`: has the raw page, which is no shell, an original?
        """
        if not raw.may_change and kind != "shell":
            return Choice(None, is_rendered=False, why="no_scripts")
        template = self._template(raw.sketch, kind)
        found = self._choice(template)._replace(period=template.period)
        if found.why in ("first", "audit") and kind == "full" and is_copy():
            return found._replace(is_rendered=False, why="duplicate")
        template.n_open += found.is_rendered or 0
        if found.why == "audit":
            template.period += 1
            found = found._replace(period=template.period)
        return found

    def forget_failures(self) -> None:
        """Find out by the next pages of those templates, too, whose renderings have failed."""
        for each in self._templates.values():
            each.n_failed = 0

    def is_static(self, template: Template) -> bool:
        """Do its pages not have to be rendered?"""
        return not template.n_other and template.n_same >= self._n_needed()

    def learn(self, choice: Choice, *, is_same: bool | None) -> bool:
        """Learn from a page that was rendered; None: it could not be.

        Returns: is it only known now that pages of the template have to be rendered? Those are
        the ones of its period `since` and later that were not.
        """
        if (template := choice.template) is None:
            return False
        template.n_open -= 1
        if is_same is None:
            template.n_failed += 1
            return False
        template.n_failed = 0
        if is_same:
            template.n_same += 1
            is_mixed = 0 < template.n_other < _SURE_PAGES and template.since > 0
            if is_mixed:
                template.since = 0
            elif choice.why == "audit" and not template.is_dynamic:
                template.since = max(template.since, choice.period)
            return is_mixed
        template.n_other += 1
        return template.n_other == 1

    def _choice(self, template: Template) -> Choice:
        if template.kind == "shell":
            return Choice(template, is_rendered=True, why="shell")
        if template.is_dynamic:
            return Choice(template, is_rendered=True, why="template")
        if self.is_static(template) or template.n_failed >= _MAX_FAILURES:
            is_audit = is_audited(template.number, template.n_static)
            template.n_static += 1
            return Choice(template, is_rendered=is_audit, why="audit" if is_audit else "static")
        is_first = template.n_same + template.n_open < self._n_needed()
        return Choice(template, is_rendered=True if is_first else None, why="first")

    def _n_needed(self) -> int:
        """The number of pages both ways from which a template counts as static."""
        full = [each for each in self._templates.values() if each.kind != "shell"]
        n_static = sum(each.n_same >= FIRST_PAGES for each in full)
        is_static = n_static >= _KNOWN_TEMPLATES and not any(each.n_other for each in full)
        return 1 if is_static else FIRST_PAGES

    def _template(self, sketch: Sketch, kind: Kind) -> Template:
        of_kind = [each for each in self._templates.values() if each.kind == kind]
        for each in of_kind:
            if are_alike(each.sketch, sketch, MIN_RESEMBLANCE):
                return each
        if of_kind and len(self._templates) >= _MAX_TEMPLATES:
            return max(of_kind, key=lambda each: len(each.sketch & sketch))
        template = Template(max(self._templates, default=-1) + 1, kind, sketch)
        self._templates[template.number] = template
        return template


def is_audited(template: int, n_before: int) -> bool:
    """Is this page of a static template rendered, to see whether it still is one?"""
    part, place = divmod(n_before, AUDIT_PAGES)
    return xxh3_64_intdigest(b"%d/%d" % (template, part)) % AUDIT_PAGES == place
