// Joining a channel by its name; a channel that does not exist is made.

import { open } from "../client/dialogs.js";
import { find } from "../client/element.js";

export class Channels {
  #app;

  constructor(app) {
    this.#app = app;
    find("join").addEventListener("click", () => this.#join());
  }

  async #join() {
    const field = find("channel-name");
    field.value = "";
    if ((await open(find("joining"))) !== "join") return;
    const { api } = this.#app;
    const name = field.value.trim().replace(/^#/, "");
    try {
      await api.post("/users/me/subscriptions", { subscriptions: [{ name }] });
      const { stream_id } = await api.get("/get_stream_id", { stream: name });
      if (this.#app.api === api) this.#app.show({ channelId: stream_id });
    } catch (error) {
      if (this.#app.api === api) this.#app.complain(error);
    }
  }
}
