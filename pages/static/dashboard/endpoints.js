// The webhook endpoints, each with its newest attempts.

import { find, h } from "../client/element.js";
import { AttemptTable } from "./attempts.js";
import { badge } from "./badge.js";
import { describeEndpoint } from "./wording.js";
import { Attempts, Looks, readEndpoints, sendAgain } from "./webhooks.js";

const LIMIT = 10;
const COLUMNS = ["Result", "Event", "Sent", "Next attempt"];

export class EndpointView {
  #app;
  #cards = [];
  #looks = new Looks(() => this.#renew());
  #stop = new AbortController();
  #isOpen = false;

  constructor(app) {
    this.#app = app;
    find("refresh").addEventListener("click", () => this.#load());
  }

  open() {
    if (this.#isOpen) return;
    this.#isOpen = true;
    find("webhooks").hidden = false;
    document.title = "Webhooks · Dashboard";
    find("webhooks-title").focus();
    this.#load();
  }

  close() {
    this.#isOpen = false;
    this.#stop.abort();
    this.#looks.stop();
    this.#cards = [];
    find("webhooks").hidden = true;
    find("endpoints").replaceChildren();
  }

  /** An event of the project, which is about to be sent, or tells of an endpoint. */
  apply(event) {
    if (!this.#isOpen) return;
    if (event.data.webhook_endpoint !== undefined) this.#load();
    else this.#looks.soon();
  }

  #load() {
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    return this.#try(signal, async () => {
      const endpoints = await readEndpoints(this.#app.api, signal);
      this.#cards = endpoints.map((endpoint) => this.#card(endpoint, signal));
      find("endpoints").replaceChildren(...this.#cards.map(({ element }) => element));
      find("none-endpoints").hidden = endpoints.length > 0;
      await this.#readAll(signal);
    });
  }

  #renew() {
    const { signal } = this.#stop;
    return this.#try(signal, () => this.#readAll(signal));
  }

  async #readAll(signal) {
    for (const { attempts, draw } of this.#cards) {
      await attempts.renew(this.#app.api, signal);
      draw();
    }
  }

  async #try(signal, work) {
    const { api } = this.#app;
    find("endpoints").setAttribute("aria-busy", "true");
    try {
      await work();
    } catch (error) {
      if (signal.aborted) return;
      this.#app.fail(api, error);
    }
    find("endpoints").setAttribute("aria-busy", "false");
  }

  #card(endpoint, signal) {
    const attempts = new Attempts(endpoint, LIMIT);
    const body = h("tbody", {});
    const again = async (attempt) => {
      await sendAgain(this.#app.api, attempt);
      this.#looks.soon();
    };
    const table = new AttemptTable(body, {
      hasEndpoint: false,
      sendAgain: (attempt) => this.#try(signal, () => again(attempt)),
    });
    const none = h("p", { class: "muted", hidden: true }, "No deliveries yet.");
    const readOn = async () => {
      await attempts.readOn(this.#app.api, signal);
      draw();
    };
    const more = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => this.#try(signal, readOn) }, "Older attempts");
    const draw = () => {
      table.draw(attempts.all);
      none.hidden = attempts.all.length > 0;
      more.hidden = !attempts.hasMore;
    };
    const heads = h("tr", {}, COLUMNS.map((name) => h("th", { scope: "col" }, name)));
    const types = endpoint.event_types.includes("*") ? "All events" : endpoint.event_types.join(", ");
    const element = h(
      "li",
      { class: "panel" },
      h("h2", { class: "wrap" }, endpoint.url),
      h("p", {}, badge(describeEndpoint(endpoint)), " ", h("span", { class: "muted" }, types)),
      endpoint.description !== "" && h("p", {}, endpoint.description),
      none,
      h("table", { hidden: true }, h("thead", {}, heads), body),
      h("p", {}, more),
    );
    return { element, attempts, draw };
  }
}
