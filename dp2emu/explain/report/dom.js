// Elements, text and numbers.  All text from the capture goes through textContent: it stays inert.

const model = JSON.parse(document.getElementById("model").textContent);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  append(made, children);
  return made;
}

function append(parent, children) {
  for (const child of children.flat(4)) {
    if (child !== null && child !== undefined && child !== false) parent.append(child);
  }
}

function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
  return parent;
}

const byId = (id) => document.getElementById(id);
const count = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const code = (text, more = "") => element("span", { class: `mono ${more}` }, String(text));
const badge = (text, kind = "") => element("span", { class: `badge ${kind}` }, text);

// A name that may break between its words: before a capital letter and behind an underscore.
const breakable = (name) => name.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=_)/).flatMap((part, at) => at ? [element("wbr"), part] : [part]);

function shown(value) {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.map(shown).join(", ");
  if (typeof value === "number" && !Number.isInteger(value)) return String(+value.toPrecision(7));
  return String(value);
}

function pairs(rows) {
  const kept = rows.filter((row) => row && row[1] !== null && row[1] !== undefined && row[1] !== "");
  return element("dl", { class: "pairs" }, kept.map(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]));
}

// A table: columns are [title, "num" or ""], rows are lists of cells, and a cell is text or a node.
function table(label, columns, rows, marked = () => "") {
  const head = columns.map(([title, kind]) => element("th", { class: kind, scope: "col" }, title));
  const body = rows.map((cells, at) =>
    element("tr", { class: marked(at) }, cells.map((cell, column) => element("td", { class: columns[column][1] }, cell ?? ""))));
  return element("div", { class: "wide" },
    element("table", { "aria-label": label }, element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)));
}

// A table whose columns sort by click: `rows` are lists of values, `cells` makes the cells of a row.
function sortable(label, columns, rows, cells, at = 0, falling = false) {
  const box = element("div", { class: "wide" });
  const ordered = rows.slice().sort((a, b) => {
    const order = a[at] < b[at] ? -1 : a[at] > b[at] ? 1 : 0;
    return falling ? -order : order;
  });
  const head = columns.map(([title, kind], column) => element("th",
    { class: kind, scope: "col", "aria-sort": column === at ? (falling ? "descending" : "ascending") : null },
    element("button", { type: "button", onclick: () => {
      const next = sortable(label, columns, rows, cells, column, column === at ? !falling : columns[column][1] === "num");
      box.replaceWith(next);
      next.querySelectorAll("th button")[column].focus();
    } }, title)));
  const body = ordered.slice(0, 2000).map((row) =>
    element("tr", {}, cells(row).map((cell, column) => element("td", { class: columns[column][1] }, cell ?? ""))));
  append(box, [element("table", { "aria-label": label }, element("thead", {}, element("tr", {}, head)), element("tbody", {}, body))]);
  if (ordered.length > 2000) append(box, [element("p", { class: "quiet" }, `The first 2 000 of ${grouped(ordered.length)} rows.`)]);
  return box;
}

function command(text) {
  const copied = element("button", { type: "button", "aria-label": "Copy the command" }, "Copy");
  copied.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(text); copied.textContent = "Copied"; } catch { copied.textContent = "Select to copy"; }
    setTimeout(() => { copied.textContent = "Copy"; }, 1500);
  });
  return element("span", { class: "command" }, element("span", {}, text), copied);
}

function say(text) { byId("live").textContent = text; }

function listing(text, wanted = "") {
  const words = wanted.toLowerCase();
  return element("pre", { tabindex: "0" }, text.replace(/\n$/, "").split("\n").map((line) =>
    element("span", { class: words && line.toLowerCase().includes(words) ? "line hit" : "line" }, line || " ")));
}

// Arrow keys move between the tabs of a list of tabs.
function tabs(parent, names, chosen, choose, prefix) {
  fill(parent, names.map(([key, title, number, kind]) => element("button", {
    class: "tab", type: "button", role: "tab", id: `${prefix}-${key}`, "aria-selected": String(key === chosen),
    tabindex: key === chosen ? "0" : "-1", onclick: () => choose(key),
  }, title, number ? element("span", { class: `count ${kind || ""}` }, grouped(number)) : null)));
  parent.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const at = names.findIndex(([key]) => key === chosen);
    const next = names[(at + step + names.length) % names.length][0];
    choose(next);
    byId(`${prefix}-${next}`)?.focus();
  };
}
