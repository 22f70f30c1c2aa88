// The list of your scheduled messages.

import { find, h } from "../client/element.js";
import { writeIso, writeShort } from "../client/times.js";
import { nodesOf } from "./rendered.js";
import { placeOfScheduled } from "./places.js";

export class Scheduled {
  #app;
  #button = find("show-scheduled");

  constructor(app) {
    this.#app = app;
    this.#button.addEventListener("click", () => find("scheduled").showModal());
  }

  draw() {
    const all = [...this.#app.state.scheduled.values()];
    all.sort((one, other) => one.scheduled_delivery_timestamp - other.scheduled_delivery_timestamp);
    this.#button.textContent = all.length > 0 ? `Scheduled (${all.length})` : "Scheduled";
    find("scheduled-list").replaceChildren(...all.map((one) => this.#item(one)));
    find("none-scheduled").hidden = all.length > 0;
  }

  #item(scheduled) {
    const { state } = this.#app;
    const at = scheduled.scheduled_delivery_timestamp * 1000;
    const title = state.titleOf(placeOfScheduled(scheduled, state.me));
    const content = h("div", { class: "content" });
    content.append(nodesOf(scheduled.rendered_content));
    const cancel = () => this.#cancel(scheduled.scheduled_message_id);
    return h(
      "li",
      {},
      h("p", { class: "meta" }, h("strong", {}, title), h("time", { datetime: writeIso(at) }, writeShort(at))),
      content,
      scheduled.failed && h("p", { class: "refusal" }, scheduled.failure_message),
      h("button", { type: "button", class: "quiet", "aria-label": `Cancel the message to ${title}`, onclick: cancel }, "Cancel"),
    );
  }

  async #cancel(id) {
    try {
      await this.#app.api.delete(`/scheduled_messages/${id}`);
    } catch (error) {
      this.#app.complain(error);
    }
  }
}
