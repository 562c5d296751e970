"""The document that a tab shows: what is asked of it, and how it is read."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from dedup.scrapy.rendering.bounds import Bounds
from dedup.scrapy.rendering.record import RenderingError

_READ_SECONDS = 5.0
"""For reading the DOM: one at its bounds takes a second."""

_REST = "new Promise((done) => requestIdleCallback(done, {timeout: 1000}))"
"""Is kept when the page's scripts have done what there was to do."""

_IS_EMPTY = """(() => {
  let left = 20;
  const look = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = root; node && left > 0; node = walker.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        const isShown = !/^(?:script|style|noscript)$/.test(node.parentNode?.localName ?? "");
        if (isShown) left -= node.data.trim().length;
      } else if (node.shadowRoot) {
        look(node.shadowRoot);
      } else if (node.localName === "iframe" && node.contentDocument?.body) {
        look(node.contentDocument.body);
      }
    }
  };
  if (document.body) look(document.body);
  return left > 0;
})()"""
"""Longer than "Loading…" is a text, hidden or not."""

_KEEPS_DATA = """(async () => {
  let length = 0;
  for (const [name, value] of Object.entries(localStorage)) length += name.length + value.length;
  if (length > 1000 || (await indexedDB.databases()).length) return true;
  return "caches" in self && (await caches.keys()).length > 0;
})()"""
"""Preferences and numbers of visitors are shorter, texts are longer."""


class ShownDocument:
    """A document, seen from a world of its own, where the page's scripts can change nothing."""

    def __init__(self, session: CDPSession, world: int, bounds: Bounds) -> None:
        self._session = session
        self._world = world
        self._bounds = bounds

    @classmethod
    async def of(cls, session: CDPSession, bounds: Bounds) -> ShownDocument:
        """The document that the tab of a session shows now."""
        tree = await session.send("Page.getFrameTree")
        world = await session.send(
            "Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]}
        )
        return cls(session, world["executionContextId"], bounds)

    async def rest(self) -> None:
        """Wait until its scripts have done what there was to do."""
        await self._value(_REST)

    async def is_empty(self) -> bool:
        """Has it hardly any text?"""
        return bool(await self._value(_IS_EMPTY))

    async def keeps_data(self) -> bool:
        """Do the pages of its site keep something in the browser that texts may be made from?"""
        try:
            return bool(await self._value(_KEEPS_DATA))
        except (PlaywrightError, RenderingError):  # it may keep nothing, or cannot be asked
            return True

    async def watch(self) -> None:
        """Begin to look for what is new."""
        await self._value(_script("scrolling.js"))
        await self.has_grown()

    async def read(self) -> tuple[str, str]:
        """Its markup, and its URL.

        Raises:
            RenderingError: it is too large, or cannot be read.
        """
        limits = {
            "nodes": self._bounds.max_nodes,
            "characters": self._bounds.max_characters,
            "depth": self._bounds.max_depth,
        }
        gone = "scrolling.gone()" if self._bounds.max_scrolls else "[]"
        found = await self._value(f"({_script('dom.js')})({json.dumps(limits)}, {gone})")
        if "tooLarge" in found:
            raise RenderingError("too_large", found["tooLarge"])
        return found["html"], found["url"]

    async def scroll(self) -> bool:
        """Scroll it to its end; was it not there?"""
        return bool(await self._value("scrolling.scroll()"))

    async def press(self) -> bool:
        """Press a button that says that it brings more; is there one?"""
        return bool(await self._value("scrolling.press()"))

    async def has_grown(self) -> bool:
        """Has it links that were not there before, or more text or height than ever?"""
        return bool(await self._value("scrolling.look()"))

    async def _value(self, expression: str) -> Any:
        try:
            answer = await self._session.send(
                "Runtime.evaluate",
                {
                    "expression": expression,
                    "contextId": self._world,
                    "awaitPromise": True,
                    "returnByValue": True,
                    "timeout": _READ_SECONDS * 1000,
                },
            )
        except PlaywrightError as error:
            if "Execution was terminated" not in error.message:
                raise
            raise RenderingError("timeout", f"reading took {_READ_SECONDS:g} seconds") from None
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"].get("exception", {})
            raise RenderingError("failed", str(details.get("description", "cannot be read")))
        return answer["result"].get("value")


@cache
def _script(name: str) -> str:
    return files("dedup.scrapy.rendering").joinpath(name).read_text("utf-8")
