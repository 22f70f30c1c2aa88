// A reference page: the list of operations is in the page. An operation is drawn by Swagger UI, which
// is loaded together with the document when a reader opens the first one.

import { showContents } from "./contents.js";

const operations = [...document.querySelectorAll(".operation")];
// The promise of the module that draws operations. Browsers load a failed module again only with the page.
let explorer;

async function draw(operation) {
  const place = operation.querySelector(".panel");
  if (!explorer) {
    place.textContent = "Loading…";
    explorer = import("./explorer.js").then(({ loadExplorer }) => loadExplorer());
  }
  try {
    const { show } = await explorer;
    if (operation.open) show(operation);
  } catch (error) {
    place.textContent = `This operation could not be loaded (${error.message}). Reload the page to try again.`;
  }
}

for (const operation of operations) {
  operation.addEventListener("toggle", () => {
    if (!operation.open) return;
    for (const other of operations) if (other !== operation) other.open = false;
    history.replaceState(null, "", `#${operation.id}`);
    draw(operation);
    // The operation that closed may have been above, and longer than the window.
    if (operation.getBoundingClientRect().top < 0) operation.scrollIntoView();
  });
}

/** Open the operation that the fragment of the address names. */
function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.matches(".operation")) target.open = true;
  target.scrollIntoView();
}

showContents(operations);
addEventListener("hashchange", follow);
follow();
