// One original and its copies: the two addresses, the verdict, and the texts with differences marked.

const COPIES_PER_PAGE = 200;

/** Show a group; `index`: which of its copies stands beside the original. */
function showPair(place, group, index) {
  const copy = group.copies[index];
  place.replaceChildren(
    chooser(group, index),
    element("div", { className: "sides" }, side("Kept", group, group.language), side("Dropped", copy, group.language)),
    facts(copy),
    leftOut(group, copy),
    texts(group, copy),
  );
}

/** The boxes that are no part of the texts of the two pages' sites, by a few pages of each. */
function leftOut(...pages) {
  const known = [...new Set(pages.map((page) => page.site))].filter((place) => place !== null).map((place) => browser.sites[place]);
  if (!known.length) return null;
  const items = known.flatMap((site) => [
    element("li", {}, `On ${plural(site.sampled, "page")} of ${site.host}, mostly text of `, element("code", {}, site.box), ". Left out:"),
    ...site.left_out.map((box) => element("li", {}, element("code", {}, box.box), ` ${boxWords(box, site)}`)),
  ]);
  return element("details", { className: "left-out" }, element("summary", {}, "What is left out of the texts of this site"), element("ul", {}, ...items));
}

function boxWords(box, { counted }) {
  const kind = box.is_links ? "mostly links" : "words";
  return `on ${number(box.pages)} of ${plural(counted, "page")} counted; ${kind}, ${Math.round(100 * box.repeated)}% of them on other pages, too`;
}

function chooser(group, index) {
  const total = group.total === group.copies.length ? "" : ` (${number(group.total)} in all)`;
  const bar = element("div", { className: "chooser" }, element("span", {}, `Copy ${number(index + 1)} of ${number(group.copies.length)}${total}`));
  bar.prepend(element("a", { className: "to-list", href: "#list" }, "List"));
  if (group.copies.length < 2) return bar;
  const first = Math.floor(index / COPIES_PER_PAGE) * COPIES_PER_PAGE;
  const shown = group.copies.slice(first, first + COPIES_PER_PAGE);
  const select = element("select", { id: "copy", ariaLabel: "Copy" });
  select.append(...shown.map((copy, place) => new Option(copy.url, first + place, false, first + place === index)));
  select.addEventListener("change", () => browser.choose(Number(select.value)));
  const step = (label, name, by) => {
    const button = element("button", { type: "button", ariaLabel: name, disabled: !group.copies[index + by] }, label);
    button.addEventListener("click", () => browser.choose(index + by));
    return button;
  };
  bar.firstChild.after(step("‹", "Previous copy", -1), step("›", "Next copy", 1));
  bar.append(select);
  return bar;
}

function side(kind, { title, url }, language) {
  return element(
    "div",
    { className: "side" },
    element("div", { className: "kind" }, kind),
    element("h3", { dir: "auto", lang: language }, title || "(no title)"),
    link(url),
  );
}

function facts({ stage, distance, computed, resemblance, host, hasOtherName }) {
  const fact = (name, value) => element("span", {}, `${name} `, element("b", {}, value));
  return element(
    "div",
    { className: "facts" },
    fact("Stage", stage),
    fact("Resemblance", resemblance === null ? "–" : resemblance.toFixed(4)),
    distance === null ? null : fact("Hamming distance", plural(distance, "bit")),
    computed === null ? null : fact("Hamming distance (computed for this report)", plural(computed, "bit")),
    host ? fact("Host", host) : null,
    hasOtherName && !EXACT.includes(stage) ? element("span", { className: "bad" }, "Another name than the original") : null,
  );
}

function texts(group, copy) {
  const place = element("div", { className: "texts", lang: group.language });
  if (copy.parts) {
    place.append(...rows(copy.parts));
  } else if (copy.stage === "body" || copy.stage === "text") {
    const what = copy.stage === "body" ? "The bytes are the same." : "The texts are the same, up to case and width.";
    place.append(element("p", { className: "note" }, what));
    if (group.excerpt) place.append(text(group.excerpt));
  } else {
    const why = "The texts of this pair are not in the file, which holds those least alike and a sample of the others.";
    place.append(element("p", { className: "note" }, why));
  }
  return place;
}

function text(value) {
  return element("p", { dir: "auto" }, value);
}

/** Rows of two paragraphs. A part is what both have, a pair that differs, or a number left out. */
function rows(parts) {
  const nodes = [];
  let left = null;
  let right = null;
  for (const part of parts) {
    if (typeof part === "number") {
      nodes.push(element("p", { className: "cut" }, `${plural(part, "character")} left out`));
      left = null;
      continue;
    }
    if (left === null) {
      [left, right] = [text(""), text("")];
      nodes.push(element("div", { className: "row" }, left, right));
    }
    if (typeof part === "string") {
      left.append(part);
      right.append(part);
    } else {
      if (part[0]) left.append(element("del", {}, part[0]));
      if (part[1]) right.append(element("ins", {}, part[1]));
    }
  }
  if (!parts.some(Array.isArray)) nodes.unshift(element("p", { className: "note" }, "The texts are the same."));
  return nodes;
}
