// Elements from values. Text is always text here: no value becomes markup.

/** An element; a property whose name begins with "on" is a listener, false and null are left out. */
export function h(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Give `parent` exactly these children; those that are in place already are not touched. */
export function reconcile(parent, wanted) {
  const kept = new Set(wanted);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  wanted.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
}

/** Tell whether a link leads to where the page is. */
export function markCurrent(link, isHere) {
  if (isHere) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
}

export const find = (id) => document.getElementById(id);

/** Say something to those who listen to the page rather than look at it. */
export function announce(text) {
  find("announce").textContent = text;
}
