// Sorts the rows of every <table data-sortable> by a click on a head.
// A cell's data-value wins over its text; numbers sort as numbers, gaps last.

const valueOf = (row, column) => {
  const cell = row.cells[column];
  return (cell?.dataset.value ?? cell?.textContent ?? "").trim();
};

const asNumber = (text) => Number(text.replace(/[,\s%$]/g, ""));

function compare(a, b, descending) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const [x, y] = [asNumber(a), asNumber(b)];
  const order = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  return descending ? -order : order;
}

function sortBy(table, head) {
  const column = head.cellIndex;
  const descending = head.getAttribute("aria-sort") === "ascending";
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) =>
    compare(valueOf(a, column), valueOf(b, column), descending),
  );
  body.append(...rows);
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
}

for (const table of document.querySelectorAll("table[data-sortable]")) {
  for (const head of table.tHead.rows[0].cells) {
    if (head.hasAttribute("data-unsorted") || head.textContent.trim() === "") continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortBy(table, head));
  }
}
