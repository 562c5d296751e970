// What makes a page bring more: it is scrolled to its end, or its button is pressed. Runs in the
// world of `dom.js`, where the page's scripts can change none of what it calls or has noted.
const scrolling = (() => {
  const LABELS = new Set([
    "load more", "show more", "see more", "view more", "more results", "load more results",
    "show more results", "更多", "加载更多", "查看更多", "显示更多", "点击加载更多", "加載更多",
    "載入更多", "顯示更多",
  ]);
  const MOST_LINKS = 10_000;
  const LONGEST_LINK = 2_000;
  const MOST_SCREENS = 30; // of one way to the end; a longer one is gone in larger steps

  const seen = new Map();
  const useless = new WeakSet();
  let links = 0;
  let height = 0;
  let characters = 0;
  let pressed = null;

  const hidden = (element) => element.scrollHeight - element.clientHeight;

  // The document's own, or the largest element that scrolls, if the document hardly does.
  const scrolled = () => {
    const own = document.scrollingElement ?? document.documentElement;
    if (hidden(own) > own.clientHeight / 10) return own;
    let largest = own;
    let area = 0;
    for (const each of document.querySelectorAll("body *")) {
      const size = each.clientWidth * each.clientHeight;
      if (size <= area || hidden(each) < 2) continue;
      if (!/auto|scroll|overlay/.test(getComputedStyle(each).overflowY)) continue;
      [largest, area] = [each, size];
    }
    return largest;
  };

  const noteLinks = () => {
    for (const each of document.links) {
      if (seen.size >= MOST_LINKS) return;
      if (/^https?:/.test(each.protocol) && each.href.length <= LONGEST_LINK && !seen.has(each.href))
        seen.set(each.href, each.rel);
    }
  };

  // A frame that is not shown may never be painted.
  const painted = () =>
    new Promise((done) => {
      setTimeout(done, 100);
      requestAnimationFrame(() => requestAnimationFrame(done));
    });

  const isShown = (element) =>
    element.offsetWidth > 0 &&
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true });

  // Does pressing it do nothing but what scripts of the page do?
  const isHarmless = (element) => {
    const active = element.closest("a[href], area[href], button, input, label");
    if (element.ariaDisabled === "true" || active?.disabled) return false;
    if (!active) return true;
    if (active.localName === "label") return false;
    if (active.href === undefined) return !active.form || active.type === "button";
    return !active.target && /^\s*(#|javascript:)/i.test(active.getAttribute("href"));
  };

  const label = (element) =>
    (element.localName === "input" ? element.value : element.textContent)
      .slice(0, 100)
      .toLowerCase()
      .replace(/\s+/g, " ")
      .replace(/^[ +]+|[ .…>»›+↓▼]+$/g, "");

  return {
    // Note what there is now; is there more than ever before?
    look() {
      const before = [links, height, characters];
      noteLinks(); // after those that `scroll` has noted
      links = seen.size;
      height = Math.max(height, scrolled().scrollHeight);
      characters = Math.max(characters, document.body?.textContent.length ?? 0);
      const grew = links > before[0] || height > before[1] || characters > before[2];
      if (pressed && !grew) useless.add(pressed);
      pressed = null;
      return grew;
    },

    // Scroll to the end, screen by screen, as lists may show only what is in view; was it far?
    async scroll() {
      const element = scrolled();
      const start = element.scrollTop;
      const end = element.scrollHeight;
      const screen = Math.max(element.clientHeight, 200);
      const step = Math.max(screen * 0.9, (end - start) / MOST_SCREENS);
      for (let top = start + step; top < end - screen; top += step) {
        element.scrollTo({ top, behavior: "instant" });
        await painted();
        noteLinks();
      }
      element.scrollTo({ top: end, behavior: "instant" });
      await painted();
      return element.scrollTop !== start;
    },

    // Press the last button that says it brings more; was there one?
    press() {
      const found = document.querySelectorAll("button, a, input[type=button], [role=button]");
      for (const each of [...found].reverse()) {
        if (useless.has(each) || !LABELS.has(label(each))) continue;
        if (!isShown(each) || !isHarmless(each)) continue;
        pressed = each;
        each.click();
        return true;
      }
      return false;
    },

    // The links that were there on the way, and are not there any more.
    gone() {
      const there = new Set(Array.from(document.links, (each) => each.href));
      return [...seen].filter(([href]) => !there.has(href));
    },
  };
})();
