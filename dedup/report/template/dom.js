"use strict";

// Strangers' texts become nodes here, and only as text: nothing in this page is ever parsed as HTML.

/** An element with properties and children; children are nodes or texts. */
function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function byId(id) {
  return document.getElementById(id);
}

/** A link for a web address, plain text for anything else. */
function link(url) {
  if (!/^https?:\/\//i.test(url)) return element("span", { className: "url", dir: "auto" }, url);
  const properties = { className: "url", href: url, rel: "noreferrer noopener", target: "_blank", dir: "auto" };
  return element("a", properties, url);
}

function number(value) {
  return value.toLocaleString("en");
}

function plural(count, word) {
  return `${number(count)} ${word}${count === 1 ? "" : "s"}`;
}
