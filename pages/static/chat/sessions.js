// Staying signed in: the session of this browser, and the list of all that you have.
//
// The session is a cookie that no script can read. It is sent with the three requests here that need
// it, and no other.

import { insist } from "../client/patience.js";
import { find, h } from "../client/element.js";
import { writeIso, writeShort } from "../client/times.js";
import { Api } from "./api.js";

const PATH = "/users/me/sessions";
const COOKIE = { credentials: "same-origin" };

/** Whether this browser takes the cookie from here: over HTTPS, or from its own machine. */
export const canStay = () => isSecureContext;

/** The account of this browser's session: email, api_key, session_id; null without one. */
export async function resume() {
  const account = await new Api().post("/session/fetch_api_key", {}, COOKIE);
  return account.api_key === undefined ? null : account;
}

/** Stay signed in. Returns the id of the session. */
export async function stay(email, key) {
  return (await new Api(email, key).post(PATH, {}, COOKIE)).session.id;
}

/** End the session of this browser, however long the server cannot be reached. `tell` hears of a
 *  failure, and of success after one. */
export async function end(api, id, tell) {
  const ask = () => api.delete(`${PATH}/${id}`, {}, { ...COOKIE, keepalive: true });
  try {
    await ask();
  } catch (error) {
    if (error.status >= 400 && error.status < 500 && error.status !== 429) return; // it has ended
    tell("You are signed out here, but the server could not be reached: reloading would sign you in again.");
    await insist(new AbortController().signal, ask).catch(() => {});
    tell("");
  }
}

export class Sessions {
  #app;

  constructor(app) {
    this.#app = app;
    find("show-sessions").addEventListener("click", () => this.#open());
  }

  #open() {
    find("sessions").showModal();
    this.#draw();
  }

  async #draw() {
    try {
      const { sessions } = await this.#app.api.get(PATH, {}, COOKIE);
      find("session-list").replaceChildren(...sessions.map((one) => this.#item(one)));
      find("no-sessions").hidden = sessions.length > 0;
    } catch (error) {
      find("sessions").close();
      this.#app.complain(error);
    }
  }

  #item({ id, user_agent, last_used_at, ends_at, is_current }) {
    const time = (seconds) => h("time", { datetime: writeIso(seconds * 1000) }, writeShort(seconds * 1000));
    const name = is_current ? "This browser" : user_agent || "A browser without a name";
    return h(
      "li",
      {},
      h("p", {}, h("strong", {}, name)),
      h("p", { class: "muted" }, "Last used ", time(last_used_at), ", ends ", time(ends_at)),
      h("button", { type: "button", class: "quiet", "aria-label": `End: ${name}`, onclick: () => this.#end(id) }, "End"),
    );
  }

  async #end(id) {
    try {
      await this.#app.api.delete(`${PATH}/${id}`, {}, COOKIE);
    } catch (error) {
      if (error.status !== 400) return void this.#app.complain(error); // 400: it has ended
    }
    await this.#draw();
    find("sessions-close").focus();
  }
}
