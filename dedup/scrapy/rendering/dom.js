// The page's markup as it is shown: shadow roots in the place of their hosts' children, the frames
// whose documents can be read, no boxes that ask for consent; at its end, links that are not there
// any more. It runs in a world of its own, where the page's scripts can change none of what it
// calls, and builds the markup in a document without scripts.
(bounds, gone) => {
  const inert = document.implementation.createHTMLDocument("");
  let nodes = 0;
  let characters = 0;

  const count = (node, depth) => {
    nodes += 1;
    if (node.nodeType === Node.ELEMENT_NODE) {
      characters += node.localName.length;
      for (const { name, value } of node.attributes) characters += name.length + value.length;
    } else {
      characters += node.data?.length ?? 0;
    }
    if (nodes > bounds.nodes) throw `more than ${bounds.nodes} nodes`;
    if (characters > bounds.characters) throw `more than ${bounds.characters} characters`;
    if (depth > bounds.depth) throw `deeper than ${bounds.depth} elements`;
  };

  const shownChildren = (node) => {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    if (node.localName === "slot") {
      const assigned = node.assignedNodes();
      if (assigned.length) return assigned;
    }
    if (node.localName === "template") return node.content.childNodes;
    return node.childNodes;
  };

  // Is it a box in front of the page that asks for consent? Its names and its place tell.
  const CONSENT = /cookie|consent|privacy|gdpr|ccpa|onetrust|didomi|(?:^|[\s_-])cmp(?:$|[\s_-])/i;
  const asksForConsent = (node) =>
    node.nodeType === Node.ELEMENT_NODE &&
    CONSENT.test(`${node.id} ${node.getAttribute("class") ?? ""}`) &&
    node !== document.body &&
    getComputedStyle(node).position === "fixed" &&
    !node.querySelector("main, article, h1");

  const frameBody = (node) => {
    if (node.localName !== "iframe" && node.localName !== "frame") return null;
    try {
      return node.contentDocument?.body ?? null;
    } catch {
      return null;
    }
  };

  const copy = (node, depth) => {
    count(node, depth);
    const body = frameBody(node);
    if (body) {
      const shown = inert.createElement("div");
      shown.setAttribute("data-frame", node.src);
      for (const child of body.childNodes) shown.append(copy(child, depth + 1));
      return shown;
    }
    const made = inert.importNode(node, false);
    const target = node.localName === "template" ? made.content : made;
    for (const child of shownChildren(node))
      if (!asksForConsent(child)) target.append(copy(child, depth + 1));
    return made;
  };

  // Links without text.
  const mapOf = (links) => {
    const map = inert.createElement("map");
    for (const [href, rel] of links) {
      const area = inert.createElement("area");
      area.setAttribute("href", href);
      if (rel) area.setAttribute("rel", rel);
      count(area, 2);
      map.append(area);
    }
    return map;
  };

  try {
    const root = document.documentElement;
    if (!root) return { html: "", url: location.href };
    const type = document.doctype ? "<!DOCTYPE html>\n" : "";
    const shown = copy(root, 1);
    if (gone.length) shown.append(mapOf(gone));
    return { html: (type + shown.outerHTML).toWellFormed(), url: location.href };
  } catch (error) {
    return { tooLarge: String(error) };
  }
}
