// The server's HTML of a message as nodes. The server has sanitised it; what is not expected here
// is dropped all the same, and the page's policy runs no script and loads nothing from elsewhere.

import { h } from "../client/element.js";
import { characterOf } from "./emoji.js";
import { placeAt, addressOf } from "./places.js";

const TAGS = new Set(
  (
    "a abbr blockquote br code del div em h1 h2 h3 h4 h5 h6 hr img li ol p pre span strong " +
    "table tbody td th thead time tr ul " +
    // MathML of formulas
    "annotation math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle " +
    "msub msubsup msup mtable mtd mtext mtr munder munderover semantics"
  ).split(" "),
);
const ATTRIBUTES = new Set(
  (
    "align alt aria-label class datetime href role src start title " +
    "accent columnalign depth display encoding fence height linethickness mathvariant rowspacing " +
    "separator stretchy width"
  ).split(" "),
);
const BLOCKS = "p, li, h1, h2, h3, h4, h5, h6, blockquote, td, th";
const SCHEMES = new Set(["http:", "https:", "mailto:", "sms:", "tel:", "xmpp:"]);
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A fragment to put into the page: where something in the HTML cannot be drawn, its words alone. */
export function nodesOf(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  const words = body.textContent;
  try {
    tidy(body);
  } catch {
    body.replaceChildren(words);
  }
  const fragment = document.createDocumentFragment();
  fragment.append(...[...body.childNodes].map((node) => document.importNode(node, true)));
  return fragment;
}

function tidy(body) {
  for (const element of [...body.querySelectorAll("*")]) {
    if (!TAGS.has(element.localName)) element.remove();
    else
      for (const name of element.getAttributeNames())
        if (!ATTRIBUTES.has(name) || (name === "href" && element.localName !== "a")) element.removeAttribute(name);
  }
  body.querySelectorAll("a[href]").forEach(lead);
  body.querySelectorAll("img").forEach(stay);
  body.querySelectorAll("span.emoji").forEach(draw);
  body.querySelectorAll("time[datetime]").forEach(localize);
  body.querySelectorAll("div.spoiler-block").forEach(fold);
  body.querySelectorAll(BLOCKS).forEach((block) => block.setAttribute("dir", "auto")); // each language its own
  body.querySelectorAll("pre").forEach((pre) => pre.setAttribute("tabindex", "0")); // may scroll
}

/** The first words, for those who listen. */
export function wordsOf(html, most = 200) {
  return nodesOf(html).textContent.trim().replace(/\s+/g, " ").slice(0, most);
}

/** What an address is for this page, or null: not every text is an address. */
function parse(address) {
  try {
    return new URL(address, location.href);
  } catch {
    return null;
  }
}

function lead(link) {
  const address = parse(link.getAttribute("href"));
  // Zulip's page is at the root; a link that was copied here names this page.
  const isHere = address?.origin === location.origin && ["/", location.pathname].includes(address.pathname);
  const place = isHere ? placeAt(address.hash) : null;
  if (place !== null) return link.setAttribute("href", addressOf(place));
  if (!SCHEMES.has(address?.protocol)) link.removeAttribute("href");
  link.setAttribute("rel", "noopener noreferrer nofollow");
  link.setAttribute("target", "_blank");
}

/** The custom emoji of this server alone. */
function stay(image) {
  const isOurs = parse(image.getAttribute("src") ?? "")?.origin === location.origin;
  if (!isOurs || !image.classList.contains("emoji")) image.replaceWith(image.getAttribute("alt") ?? "");
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
