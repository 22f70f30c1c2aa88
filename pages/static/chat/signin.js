// The form that leads from an email and a password to an API key. An API key itself will do too.

import { find } from "../client/element.js";
import { Api } from "./api.js";
import { canStay, stay } from "./sessions.js";

const LIKE_A_KEY = /^[A-Za-z0-9]{32}$/;

export class SignIn {
  #form = find("sign-in-form");
  #refusal = find("sign-in-refusal");

  /** `enter` gets the email, the key and the id of the session, which is null without one. */
  constructor(enter) {
    find("stay-choice").hidden = !canStay();
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(enter);
    });
    find("use-key").addEventListener("change", () => this.#choose());
  }

  /** Show the form, with what went wrong. */
  async open(text = "", email = "") {
    this.#form.reset();
    find("email").value = email;
    this.#choose();
    this.#refusal.textContent = text;
    find("sign-in").hidden = false;
    find(email === "" ? "email" : "secret").focus();
    try {
      const { realm_name } = await new Api().get("/server_settings");
      find("sign-in-title").textContent = `Sign in to ${realm_name}`;
    } catch (error) {
      const isNowhere = error.code === "NONEXISTENT_SUBDOMAIN";
      // What was said before matters more: that a session goes on, or why a key has ended.
      this.#refusal.textContent ||= isNowhere ? "No organization is at this address." : error.message;
    }
  }

  /** Say what went wrong, while the form is there. */
  tell(text) {
    this.#refusal.textContent = text;
  }

  #choose() {
    const isKey = find("use-key").checked;
    find("secret-label").textContent = isKey ? "API key" : "Password";
    find("secret").autocomplete = isKey ? "off" : "current-password";
    find("secret").value = "";
  }

  async #submit(enter) {
    const [email, secret] = [find("email").value.trim(), find("secret").value];
    const button = find("sign-in-button");
    this.#refusal.textContent = "";
    button.disabled = true;
    try {
      const isKey = find("use-key").checked;
      const account = isKey ? await checkKey(email, secret.trim()) : await fetchKey(email, secret);
      const sessionId = find("stay").checked ? await stay(account.email, account.api_key) : null;
      this.#form.reset();
      find("sign-in").hidden = true;
      enter(account.email, account.api_key, sessionId);
    } catch (error) {
      const isKey = !find("use-key").checked && error.status === 401 && LIKE_A_KEY.test(secret.trim());
      this.#refusal.textContent = isKey ? "Is this an API key? Tick the box above." : error.message;
      find("secret").select();
    } finally {
      button.disabled = false;
    }
  }
}

const fetchKey = (username, password) => new Api().post("/fetch_api_key", { username, password });

async function checkKey(email, key) {
  await new Api(email, key).get("/users/me");
  return { email, api_key: key };
}
