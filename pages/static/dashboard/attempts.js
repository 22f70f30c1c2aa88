// Tables of attempts to deliver events. An attempt never changes, so its row is made once.

import { h, reconcile } from "../client/element.js";
import { badge } from "./badge.js";
import { addressOf, eventPlace, WEBHOOKS } from "./places.js";
import { secondOf } from "./times.js";
import { describeAttempt, describeEvent } from "./wording.js";

export class AttemptTable {
  #body;
  #rows = new Map();
  #hasEndpoint;
  #sendAgain;

  /** `body` is a tbody. `hasEndpoint`: a row names the endpoint too. `sendAgain(attempt)` sends the
   * event of an attempt to its endpoint once more. */
  constructor(body, { hasEndpoint, sendAgain }) {
    this.#body = body;
    this.#hasEndpoint = hasEndpoint;
    this.#sendAgain = sendAgain;
  }

  /** Show these attempts, the newest first; each has `endpoint` beside what the API says. */
  draw(attempts) {
    const ordered = [...attempts].sort((one, other) => (one.id < other.id ? 1 : -1));
    reconcile(this.#body, ordered.map((attempt) => this.#row(attempt)));
    this.#body.closest("table").hidden = ordered.length === 0;
  }

  forget() {
    this.#rows.clear();
    this.draw([]);
  }

  #row(attempt) {
    if (!this.#rows.has(attempt.id)) this.#rows.set(attempt.id, this.#make(attempt));
    return this.#rows.get(attempt.id);
  }

  #make(attempt) {
    const { event_id, event_type, attempt_no, at, duration_ms, answer, next_attempt_at, endpoint } = attempt;
    const said = answer !== "" && h("details", {}, h("summary", {}, "Answer"), h("pre", {}, answer));
    const send = { type: "button", class: "quiet", "data-writes": true, onclick: () => this.#sendAgain(attempt) };
    const again = endpoint.status === "enabled" ? h("button", send, "Send again") : h("span", { class: "muted" }, "endpoint disabled");
    const name = h("code", {}, event_id);
    const cells = [
      ["Result", badge(describeAttempt(attempt)), attempt_no > 1 && h("p", { class: "muted" }, `attempt ${attempt_no}`), said],
      ["Event", describeEvent(event_type).words, this.#hasEndpoint ? name : h("a", { href: addressOf(eventPlace(event_id)) }, name)],
      this.#hasEndpoint && ["Endpoint", h("a", { class: "wrap", href: addressOf(WEBHOOKS) }, endpoint.url)],
      ["Sent", secondOf(at), h("p", { class: "muted" }, `${duration_ms} ms`)],
      ["Next attempt", nextOf(attempt, next_attempt_at), h("p", {}, again)],
    ];
    const filled = cells.filter(Boolean);
    return h("tr", {}, filled.map(([label, ...content]) => h("td", { "data-label": label }, ...content)));
  }
}

function nextOf({ taken }, at) {
  if (at !== null) return secondOf(at);
  return taken ? h("span", { class: "muted" }, "not needed") : "none: given up";
}
