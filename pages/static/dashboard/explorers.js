// Links to what others have of an invoice: the explorer of its chain (EIP-3091). A chain without a known
// explorer has no links.

import { find } from "../client/element.js";

const explorers = JSON.parse(find("dashboard").dataset.explorers);

/** The properties of a link to `kind` (`tx`, `address` or `token`) of a chain, or null. */
export function explorerLink(chainId, kind, id) {
  const explorer = explorers[chainId];
  if (explorer === undefined) return null;
  return { href: `${explorer}/${kind}/${encodeURIComponent(id)}`, target: "_blank", rel: "noopener noreferrer" };
}
