// The server's HTML of a message as nodes. The server has sanitised it; what is not expected here
// is dropped all the same, and the page's policy runs no script and loads nothing from elsewhere.

import { h } from "../client/element.js";
import { characterOf } from "./emoji.js";
import { placeAt, addressOf } from "./places.js";

const TAGS = new Set(
  (
    "a abbr blockquote br code del div em h1 h2 h3 h4 h5 h6 hr img li ol p pre span strong " +
    "table tbody td th thead time tr ul"
  ).split(" "),
);
const ATTRIBUTES = new Set(["alt", "aria-label", "class", "datetime", "href", "role", "src", "start", "title"]);
const SCHEMES = new Set(["http:", "https:", "mailto:", "tel:", "xmpp:"]);
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A fragment to put into the page. */
export function nodesOf(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const element of [...body.querySelectorAll("*")]) {
    if (!TAGS.has(element.localName)) element.remove();
    else for (const name of element.getAttributeNames()) if (!ATTRIBUTES.has(name)) element.removeAttribute(name);
  }
  body.querySelectorAll("a[href]").forEach(lead);
  body.querySelectorAll("img").forEach(stay);
  body.querySelectorAll("span.emoji").forEach(draw);
  body.querySelectorAll("time[datetime]").forEach(localize);
  body.querySelectorAll("div.spoiler-block").forEach(fold);
  body.querySelectorAll("pre").forEach((pre) => pre.setAttribute("tabindex", "0")); // may scroll
  const fragment = document.createDocumentFragment();
  fragment.append(...[...body.childNodes].map((node) => document.importNode(node, true)));
  return fragment;
}

/** The first words, for those who listen. */
export function wordsOf(html) {
  return nodesOf(html).textContent.trim().replace(/\s+/g, " ").slice(0, 200);
}

function lead(link) {
  const address = link.getAttribute("href");
  const place = placeAt(address.replace(/^\//, ""));
  if (place !== null) return link.setAttribute("href", addressOf(place));
  if (!SCHEMES.has(new URL(address, location.href).protocol)) link.removeAttribute("href");
  link.setAttribute("rel", "noopener noreferrer nofollow");
  link.setAttribute("target", "_blank");
}

/** The custom emoji of this server alone. */
function stay(image) {
  const { origin } = new URL(image.getAttribute("src") ?? "", location.href);
  if (origin !== location.origin || !image.classList.contains("emoji")) image.replaceWith(image.getAttribute("alt") ?? "");
}

function draw(span) {
  const code = /(?:^| )emoji-([0-9a-f-]+)(?: |$)/.exec(span.className)?.[1];
  if (code) span.textContent = characterOf(code);
}

function localize(time) {
  const date = new Date(time.getAttribute("datetime"));
  if (!Number.isNaN(date.getTime())) time.textContent = TIME.format(date);
}

function fold(block) {
  const [header, content] = ["header", "content"].map((part) => block.querySelector(`.spoiler-${part}`));
  const summary = h("summary", {}, header?.textContent.trim() || "Spoiler");
  block.replaceWith(h("details", { class: "spoiler" }, summary, ...(content?.childNodes ?? [])));
}
