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

  const itemsById = new Map(); // operationId -> item
  const tags = (spec.tags ?? []).map(({ name }) => {
    const open = () => ui.layoutActions.show(["operations-tag", name], true);
    const tag = itemOf(name.replaceAll("_", " "), `#/${encodeURIComponent(name)}`, () => {
      open();
      elementOf("tag", name)?.scrollIntoView();
    });
    const operations = operationsOf(name).map(({ operationId, summary }) => {
      const item = itemOf(summary, `#/${encodeURIComponent(name)}/${operationId}`, () => {
        open();
        ui.layoutActions.show(["operations", name, operationId], true);
        requestAnimationFrame(() => elementOf(name, operationId)?.scrollIntoView());
      });
      itemsById.set(operationId, item);
      return item;
    });
    tag.append(listOf(...operations));
    return tag;
  });

  // The search: an operation is found by words of its summary, its name, its method or its path.
  const haystacks = new Map(); // item -> text
  Object.entries(spec.paths).forEach(([path, item]) =>
    METHODS.filter((method) => item[method]).forEach((method) => {
      const { operationId, summary } = item[method];
      const link = itemsById.get(operationId);
      if (link) haystacks.set(link, `${summary} ${operationId} ${method} ${path}`.toLowerCase());
    }),
  );
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const find = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const tag of tags) {
      for (const item of tag.querySelectorAll("li")) {
        item.hidden = !words.every((word) => (haystacks.get(item) ?? "").includes(word));
        count += !item.hidden;
      }
      tag.hidden = words.length > 0 && !tag.querySelector("li:not([hidden])");
    }
    for (const heading of headings) {
      heading.hidden = !words.every((word) => heading.textContent.toLowerCase().includes(word));
    }
    found.textContent = words.length === 0 ? "" : `${count} ${count === 1 ? "operation" : "operations"} found`;
  };
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || search.value.trim() === "") return;
    contents.querySelector("li:not([hidden]) li:not([hidden]) a")?.click();
  });

  contents.querySelector("nav").replaceChildren(listOf(...headings, ...tags));
  contents.open = wide.matches;
  wide.addEventListener("change", () => (contents.open = wide.matches));
  contents.hidden = false;
};
