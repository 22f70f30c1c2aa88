// Files: attaching one to the message that is being written, and opening one of a message.

import { announce, find } from "../client/element.js";

const FILES = "/user_uploads/";
const MEBIBYTE = 2 ** 20;

/** Attaches files that are chosen, or pasted into or dropped on the field. */
export class Attaching {
  #app;
  #field = find("content");
  #chooser = find("files");
  #refusal = find("compose-refusal");
  #progress = find("attaching");
  #underWay = 0;

  constructor(app) {
    this.#app = app;
    find("attach").addEventListener("click", () => this.#chooser.click());
    this.#chooser.addEventListener("change", () => {
      this.#attach([...this.#chooser.files]);
      this.#chooser.value = "";
    });
    this.#field.addEventListener("paste", (event) => this.#take(event, event.clipboardData));
    this.#field.addEventListener("drop", (event) => this.#take(event, event.dataTransfer));
  }

  #take(event, data) {
    if (data === null || data.files.length === 0) return; // a text
    event.preventDefault();
    this.#attach([...data.files]);
  }

  async #attach(files) {
    this.#refusal.textContent = "";
    for (const file of files) await this.#send(file);
  }

  async #send(file) {
    const { api, place, state } = this.#app;
    if (file.size > state.realm.maxFileMiB * MEBIBYTE) {
      this.#refusal.textContent = `${file.name} is larger than ${state.realm.maxFileMiB} MiB.`;
      return;
    }
    this.#show(1);
    try {
      const { url, filename } = await api.upload("/user_uploads", file);
      if (this.#app.state !== state) return; // signed out meanwhile
      this.#app.insert(`[${filename.replaceAll(/[[\]]/g, "")}](${url})`, place);
      announce(`${filename} is attached`);
    } catch (error) {
      if (this.#app.state === state) this.#refusal.textContent = error.message;
    } finally {
      this.#show(-1);
    }
  }

  #show(change) {
    this.#underWay += change;
    this.#progress.hidden = this.#underWay === 0;
  }
}

/** Follow a link to an uploaded file, which needs an address that lasts a minute. */
export async function openFile(app, event) {
  const link = event.target.closest("a[href]");
  const { origin, pathname } = link ? new URL(link.href) : {};
  if (origin !== location.origin || !pathname.startsWith(FILES)) return;
  event.preventDefault();
  try {
    const { url } = await app.api.get(pathname);
    Object.assign(document.createElement("a"), { href: url, target: "_blank", rel: "noopener" }).click();
  } catch (error) {
    app.complain(error);
  }
}
