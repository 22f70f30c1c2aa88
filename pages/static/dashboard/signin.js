// The form that takes a project's key. Nobody is asked for anything else.

import { find } from "../client/element.js";
import { Api } from "./api.js";

const REFUSED = "The server does not accept this key: it is unknown, or it was revoked.";

export const messageOf = (error) => (error.status === 401 ? REFUSED : error.message);

export class SignIn {
  #form = find("sign-in-form");
  #refusal = find("sign-in-refusal");

  /** `enter` gets an `Api`, the payment methods of its project, and what the key is. */
  constructor(enter) {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(enter);
    });
  }

  /** Show the form, with what went wrong. */
  open(text = "") {
    this.#form.reset();
    this.#refusal.textContent = text;
    find("sign-in").hidden = false;
    find("key").focus();
  }

  async #submit(enter) {
    const button = find("sign-in-button");
    this.#refusal.textContent = "";
    button.disabled = true;
    try {
      const api = new Api(read(find("key").value));
      const key = await api.get("/key"); // alone, so that a wrong key is refused once
      const { methods } = await api.get("/payment-methods");
      this.#form.reset();
      find("sign-in").hidden = true;
      enter(api, methods, key);
    } catch (error) {
      this.#refusal.textContent = messageOf(error);
      find("key").select();
    } finally {
      button.disabled = false;
    }
  }
}

function read(text) {
  const key = text.trim();
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error("A key contains only letters, digits and underscores.");
  return key;
}
