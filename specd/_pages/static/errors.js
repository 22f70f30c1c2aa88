// The search of the page of errors: it hides the rows that do not have all the words.
"use strict";

(() => {
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const rows = [...document.querySelectorAll("tbody tr")].map((row) => ({ row, text: row.textContent.toLowerCase() }));
  const groups = [...document.querySelectorAll("main table")];
  const titles = [...document.querySelectorAll("main h2")]; // each with a sentence

  function find() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { row, text } of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      count += !row.hidden;
    }
    for (const table of groups) {
      table.hidden = table.querySelector("tbody tr:not([hidden])") === null;
      const title = table.previousElementSibling;
      if (title?.tagName === "H3") title.hidden = table.hidden;
    }
    for (const title of titles) {
      title.hidden = title.nextElementSibling.hidden = groups.every(
        (table) => table.hidden || !(title.compareDocumentPosition(table) & Node.DOCUMENT_POSITION_FOLLOWING),
      );
    }
    const contents = document.getElementById("contents");
    if (contents) contents.hidden = words.length > 0;
    found.textContent = words.length === 0 ? "" : `${count} ${count === 1 ? "row" : "rows"} found`;
  }

  search.addEventListener("input", find);
  addEventListener("hashchange", () => {
    search.value = ""; // a link leads to a row that may be hidden
    find();
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  });
})();
