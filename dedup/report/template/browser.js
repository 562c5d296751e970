// The list of groups: search, filters, order, pages of it, and the keys.

const GROUPS_PER_PAGE = 25;
const EXACT = ["body", "text"];

const browser = {
  groups: [],
  sites: [],
  found: [],
  page: 0,
  group: null,
  index: 0,

  open(data, sites) {
    this.groups = unpackGroups(data);
    this.sites = sites;
    fillSelect(byId("stage"), data.stages);
    fillSelect(byId("host"), data.hosts);
    for (const id of ["stage", "host", "resemblance", "names", "order"]) byId(id).addEventListener("change", () => this.filter());
    byId("search").addEventListener("input", () => this.filter());
    byId("back").addEventListener("click", () => this.turn(-1));
    byId("forth").addEventListener("click", () => this.turn(1));
    document.addEventListener("keydown", (event) => this.onKey(event));
    this.filter();
  },

  /** Find the groups of which a copy passes all filters; each shows those copies. */
  filter() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const [low, high] = byId("resemblance").value.split(" ").map(Number);
    const stage = byId("stage").value;
    const host = byId("host").value;
    const names = byId("names").value;
    const isAny = !words.length && !stage && !host && !names && low === 0 && high === 1;
    const passes = (copy, group) =>
      (!stage || copy.stage === stage) &&
      (!host || copy.host === host || group.host === host) &&
      (!names || (copy.hasOtherName && !EXACT.includes(copy.stage))) &&
      (copy.resemblance ?? 1) >= low &&
      (copy.resemblance ?? 1) <= high &&
      words.every((word) => copy.key.includes(word) || group.key.includes(word));
    this.found = isAny ? this.groups : this.groups.map((group) => narrowed(group, passes)).filter((group) => group.copies.length);
    this.found = [...this.found].sort(ORDERS[byId("order").value]);
    const copies = sum(this.found.map((group) => group.copies.length));
    byId("found").textContent = `${plural(this.found.length, "page")} with ${plural(copies, "duplicate")}.`;
    this.page = 0;
    this.select(0, { isQuiet: true });
  },

  turn(by) {
    const pages = Math.ceil(this.found.length / GROUPS_PER_PAGE);
    this.page = Math.min(Math.max(this.page + by, 0), Math.max(pages - 1, 0));
    this.select(this.page * GROUPS_PER_PAGE, { isQuiet: true });
  },

  /** Show the group at this place of what was found. `isQuiet`: leave focus and scroll alone. */
  select(place, { isQuiet = false } = {}) {
    this.group = this.found[place] ?? null;
    this.page = Math.floor(place / GROUPS_PER_PAGE);
    this.list();
    if (this.group) this.choose(0);
    else byId("pair").replaceChildren(element("p", { className: "note" }, this.groups.length ? "Nothing is found." : "There are no duplicates."));
    if (isQuiet || !this.group) return;
    byId("list").querySelector("[aria-current=true]")?.focus({ preventScroll: true });
    if (getComputedStyle(byId("pair")).position === "static") byId("pair").scrollIntoView();
    else byId("list").querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  },

  /** Put another copy of the group beside the original. */
  choose(index) {
    if (!this.group?.copies[index]) return;
    this.index = index;
    showPair(byId("pair"), this.group, index);
    byId("pair").scrollTop = 0;
  },

  list() {
    const first = this.page * GROUPS_PER_PAGE;
    const shown = this.found.slice(first, first + GROUPS_PER_PAGE);
    byId("list").replaceChildren(...shown.map((group, offset) => this.item(group, first + offset)));
    byId("list").hidden = !shown.length;
    byId("pager").hidden = this.found.length <= GROUPS_PER_PAGE;
    byId("place").textContent = `${number(first + 1)} – ${number(first + shown.length)} of ${number(this.found.length)}`;
    byId("back").disabled = this.page === 0;
    byId("forth").disabled = first + GROUPS_PER_PAGE >= this.found.length;
  },

  item(group, place) {
    const button = element(
      "button",
      { type: "button", ariaCurrent: String(group === this.group) },
      element("span", { className: "name", dir: "auto", lang: group.language }, group.title || "(no title)"),
      element("span", { className: "url", dir: "auto" }, group.url),
      ...badges(group),
    );
    button.addEventListener("click", () => this.select(place));
    return element("li", {}, button);
  },

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target.matches("input, select, textarea");
    if (event.key === "Escape" && event.target === byId("search")) {
      byId("search").value = "";
      this.filter();
    } else if (!isTyping && Object.hasOwn(KEYS, event.key)) {
      event.preventDefault();
      KEYS[event.key]();
    }
  },

  step(by) {
    const place = this.found.indexOf(this.group) + by;
    if (this.found[place]) this.select(place);
  },
};

const KEYS = {
  "/": () => byId("search").focus(),
  j: () => browser.step(1),
  k: () => browser.step(-1),
  n: () => browser.choose(browser.index + 1),
  p: () => browser.choose(browser.index - 1),
};

const ORDERS = {
  size: (a, b) => b.copies.length - a.copies.length,
  resemblance: (a, b) => a.least - b.least || a.copies.length - b.copies.length,
  url: (a, b) => (a.url < b.url ? -1 : a.url > b.url ? 1 : 0),
};

function unpackGroups({ originals, duplicates, hosts, stages }) {
  let start = 0;
  return originals.map(([url, host, title, language, excerpt, site, listed, total]) => {
    const copies = duplicates.slice(start, (start += listed)).map(([url, host, title, stage, distance, resemblance, parts, computed, site, hasOtherName]) => ({
      url, host: hosts[host], title, stage: stages[stage], distance, resemblance, parts, computed, site, hasOtherName, key: `${url} ${title}`.toLowerCase(),
    }));
    const key = `${url} ${title}`.toLowerCase();
    return { url, host: hosts[host], title, language, excerpt, site, total, copies, key, least: least(copies) };
  });
}

function narrowed(group, passes) {
  const copies = group.copies.filter((copy) => passes(copy, group));
  return { ...group, copies, least: least(copies) };
}

function least(copies) {
  return copies.reduce((found, copy) => Math.min(found, copy.resemblance ?? 1), 1);
}

function badges({ copies, least }) {
  const counts = new Map();
  for (const { stage } of copies) counts.set(stage, (counts.get(stage) ?? 0) + 1);
  const texts = [...counts].map(([stage, count]) => `${number(count)} × ${stage}`);
  if (least < 1) texts.push(`lowest resemblance ${least.toFixed(3)}`);
  return texts.map((text) => element("span", { className: "badge" }, text));
}

function fillSelect(select, names) {
  select.append(...[...names].sort().map((name) => new Option(name || "(none)", name)));
}
