// The table of contents of a reference page: the headings of the description, and the operations by
// tag. It stays in view next to the list; on a narrow screen it folds away. Its search filters both.

const listOf = (...items) => {
  const list = document.createElement("ul");
  list.append(...items);
  return list;
};

const itemOf = (text, id) => {
  const link = document.createElement("a");
  link.textContent = text;
  link.href = `#${id}`;
  const item = document.createElement("li");
  item.append(link);
  return item;
};

export function showContents(operations) {
  const contents = document.getElementById("contents");
  const wide = matchMedia("(min-width: 72rem)");

  const headings = [...document.querySelectorAll(".description h2")].map((it) => itemOf(it.textContent, it.id));
  const entries = operations.map((operation) => ({
    operation,
    item: itemOf(operation.querySelector(".summary").textContent, operation.id),
    text: [operation.dataset.name, operation.querySelector("summary").textContent].join(" ").toLowerCase(),
  }));
  const tags = [...document.querySelectorAll(".tag")].map((section) => {
    const title = section.querySelector("h2");
    const mine = entries.filter(({ operation }) => section.contains(operation));
    const item = itemOf(title.textContent, title.id);
    item.append(listOf(...mine.map((entry) => entry.item)));
    return { section, item, mine };
  });

  // An operation is found by words of its summary, its name, its method or its path.
  const search = document.getElementById("search");
  const find = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { section, item, mine } of tags) {
      for (const entry of mine) {
        entry.operation.hidden = entry.item.hidden = !words.every((word) => entry.text.includes(word));
        count += !entry.item.hidden;
      }
      section.hidden = item.hidden = mine.every((entry) => entry.item.hidden);
    }
    for (const heading of headings) {
      heading.hidden = !words.every((word) => heading.textContent.toLowerCase().includes(word));
    }
    document.getElementById("description").hidden = words.length > 0;
    document.getElementById("found").textContent =
      words.length === 0 ? "" : `${count} ${count === 1 ? "operation" : "operations"} found`;
  };
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && search.value.trim() !== "")
      contents.querySelector("li:not([hidden]) li:not([hidden]) a")?.click();
  });

  const nav = contents.querySelector("nav");
  nav.replaceChildren(listOf(...headings, ...tags.map(({ item }) => item)));
  nav.addEventListener("click", (event) => {
    if (!event.target.closest("a")) return;
    if (search.value !== "" && event.target.closest("li li") === null) {
      search.value = ""; // a heading or a tag is read with all that belongs to it
      find();
    }
    if (!wide.matches) contents.open = false;
  });
  contents.open = wide.matches;
  wide.addEventListener("change", () => (contents.open = wide.matches));
}
