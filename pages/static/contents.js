// The table of contents of a reference page: the headings of the document's description, and its
// operations by tag. It stays in sight beside the reference; on a narrow screen it folds away.
"use strict";

const showContents = (spec, ui) => {
  const METHODS = ["get", "post", "put", "patch", "delete"];
  const contents = document.getElementById("contents");
  const wide = matchMedia("(min-width: 72rem)");

  const listOf = (...items) => {
    const list = document.createElement("ul");
    list.append(...items);
    return list;
  };

  const itemOf = (text, href, go) => {
    const link = document.createElement("a");
    link.textContent = text;
    link.href = href;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      go();
      history.replaceState(null, "", href);
      if (!wide.matches) contents.open = false;
    });
    const item = document.createElement("li");
    item.append(link);
    return item;
  };

  // Swagger UI may draw the description later than it says it is complete: look when asked.
  const titles = [...(spec.info.description ?? "").matchAll(/^## +(.+)$/gm)].map((match) => match[1]);
  const headings = titles.map((title, index) => {
    const slug = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    return itemOf(title, `#${slug}`, () =>
      document.querySelectorAll("#reference .info .renderedMarkdown h2")[index]?.scrollIntoView(),
    );
  });

  const operationsOf = (tag) =>
    Object.values(spec.paths).flatMap((path) =>
      METHODS.map((method) => path[method]).filter((operation) => operation?.tags?.[0] === tag),
    );

  // What Swagger UI gives its elements as id: white space becomes an underscore.
  const elementOf = (...steps) => document.getElementById(["operations", ...steps].join("-").replace(/\s/g, "_"));

  const tags = (spec.tags ?? []).map(({ name }) => {
    const open = () => ui.layoutActions.show(["operations-tag", name], true);
    const tag = itemOf(name.replaceAll("_", " "), `#/${encodeURIComponent(name)}`, () => {
      open();
      elementOf("tag", name)?.scrollIntoView();
    });
    const operations = operationsOf(name).map(({ operationId, summary }) =>
      itemOf(summary, `#/${encodeURIComponent(name)}/${operationId}`, () => {
        open();
        ui.layoutActions.show(["operations", name, operationId], true);
        requestAnimationFrame(() => elementOf(name, operationId)?.scrollIntoView());
      }),
    );
    tag.append(listOf(...operations));
    return tag;
  });

  contents.querySelector("nav").replaceChildren(listOf(...headings, ...tags));
  contents.open = wide.matches;
  wide.addEventListener("change", () => (contents.open = wide.matches));
  contents.hidden = false;
};
