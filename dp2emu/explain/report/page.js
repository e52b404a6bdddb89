// The page: what is chosen is in the address after `#`, so that back, forward and links work.

const chosen = { view: model.differences.some((row) => !row.within) ? "differences" : "frame", event: events.length ? events[events.length - 1].number : undefined,
  tab: "event", series: undefined, pixel: undefined, picture: Math.max(0, model.differences.findIndex((row) => !row.within)), shader: 0, text: "" };
const START = { ...chosen };

const VIEWS = [
  ["differences", "Differences", () => model.differences.filter((row) => !row.within).length, "bad", () => model.differences.length],
  ["frame", "Events", () => events.length, "", () => true],
  ["queries", "Queries", () => model.queries.length, "", () => model.queries.length],
  ["shaders", "Shaders", () => model.shaders.length, "", () => true],
  ["textures", "Textures", () => model.textures.length, "", () => true],
  ["passes", "Passes", () => model.graph.passes.length, "", () => model.graph.passes.length],
  ["statistics", "Statistics", () => 0, "", () => true],
  ["faults", "Faults", () => model.faults.length, "bad", () => model.faults.length],
].filter((row) => row[4]());

const go = (change, quietly = false) => {
  const next = { ...chosen, ...change };
  if (change.event !== undefined && change.view === undefined && !["frame"].includes(next.view)) next.view = "frame";
  Object.assign(chosen, next);
  const address = written();
  if (location.hash !== address) history[quietly ? "replaceState" : "pushState"](null, "", address);
  show();
};

function written() {
  const parts = [["view", chosen.view], ["e", chosen.event], ["tab", chosen.tab === "event" ? undefined : chosen.tab], ["target", chosen.series], ["pixel", chosen.pixel?.join(",")],
    ["shader", chosen.view === "shaders" ? chosen.shader : undefined], ["picture", chosen.view === "differences" ? chosen.picture : undefined]];
  return `#${parts.filter(([, value]) => value !== undefined && value !== "").map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&")}`;
}

function read() {
  const said = new URLSearchParams(location.hash.slice(1));
  // What an address leaves out is as at the start, so that back to an empty one restores the first view.
  Object.assign(chosen, START);
  if (VIEWS.some(([key]) => key === said.get("view"))) chosen.view = said.get("view");
  const event = said.get("e") === null ? undefined : eventOf(+said.get("e"));
  if (event) chosen.event = event.number;
  if (said.get("tab")) chosen.tab = said.get("tab");
  chosen.series = said.get("target") ?? undefined;
  const pixel = /^(\d{1,5}),(\d{1,5})$/.exec(said.get("pixel") ?? "");
  chosen.pixel = pixel ? [+pixel[1], +pixel[2]] : undefined;
  if (/^\d+$/.test(said.get("shader") ?? "")) chosen.shader = +said.get("shader");
  if (/^\d+$/.test(said.get("picture") ?? "") && model.differences[+said.get("picture")]) chosen.picture = +said.get("picture");
}

const list = new EventList((number) => go({ event: number }));
const viewer = new Viewer(go);
const facts = new Facts(go);
const differences = new Differences(go);
const strip = element("nav", { class: "strip", "aria-label": "Film strip" });
const frame = element("div", { class: "frame" }, strip, list.box, viewer.box, facts.box);
const SHEETS = { differences: () => differences.show(chosen.picture, chosen.pixel), queries: () => queriesSheet(go), shaders: () => shadersView(go, chosen.shader, chosen.text), textures: texturesSheet, passes: () => passesSheet(go),
  statistics: () => statisticsSheet(go), faults: () => faultsSheet(go) };

function show() {
  tabs(byId("views"), VIEWS.map(([key, title, number, kind]) => [key, title, number(), kind]), chosen.view, (view) => go({ view, text: "" }), "view");
  const main = byId("main");
  if (chosen.view !== "frame") {
    const view = SHEETS[chosen.view]();
    if (view.parentNode !== main) { fill(main, view); main.scrollTop = 0; }
    return;
  }
  if (!events.length) { fill(main, sheet("Events", "The capture has no event in this range.")); return; }
  if (frame.parentNode !== main) fill(main, frame);
  const event = eventOf(chosen.event);
  shots();
  list.select(event.number);
  facts.show(event, chosen.tab);
  viewer.show(event, chosen.series, chosen.pixel);
  say(`Event ${event.number}, ${event.name}`);
}

// The film strip: the last picture of each frame, and of the chosen frame up to 40 of its pictures.
let stripped = null;
function shots() {
  const number = eventOf(chosen.event).frame;
  if (stripped !== number) { stripped = number; fill(strip, model.frames.map((each) => each.number === number ? inFrame(each, number) : frameShot(each, number))); }
  let nearest = null;
  for (const shot of strip.children) {
    shot.removeAttribute("aria-current");
    if (+shot.dataset.event <= chosen.event && shot.dataset.frame === String(number)) nearest = shot;
  }
  nearest?.setAttribute("aria-current", "true");
  if (nearest) strip.scrollTo({ left: nearest.offsetLeft - strip.clientWidth / 2 + nearest.clientWidth / 2 });
}

const colours = series.filter((each) => each.shows === "color");

// The target that the frame's events changed most often, and where it was changed last.
function principal(part) {
  let best = null;
  for (const each of colours) {
    const from = Math.max(1, each.at(part.first - 1) + 1), to = each.at(part.last) + 1;
    if (to > from && (!best || to - from > best.to - best.from)) best = { chosen: each, from, to };
  }
  return best;
}

// Buttons for some pictures of a target, painted in one pass over its pictures.
function shotsOf({ chosen: each, part }, rows, turn) {
  const canvases = new Map(), buttons = rows.map(([at, event, title]) => {
    const canvas = small(each.width, each.height, 54, `${each.name} after E${event}`);
    canvases.set(at, [...canvases.get(at) ?? [], canvas]);
    return element("button", { class: "shot", type: "button", "data-event": event, "data-frame": part.number, onclick: () => go({ event }), "aria-label": `${title}, picture of ${each.name}` }, canvas, title);
  });
  each.walk([...canvases.keys()], (at, image) => canvases.get(at).forEach((canvas) => paintSmall(canvas, image, each.width, each.height, each.channels)), () => stripped === turn);
  return buttons;
}

function frameShot(part, turn) {
  const found = principal(part);
  if (found) return shotsOf({ ...found, part }, [[found.to - 1, part.last, `frame ${part.number}`]], turn);
  return element("button", { class: "shot", type: "button", "data-event": part.last, "data-frame": part.number, onclick: () => go({ event: part.last }) }, `frame ${part.number}`);
}

// The frame's draws to a target that passed no pixel: they lead to the tests that they failed.
const lostDraws = (target, part) => events.filter((each) => each.frame === part.number && each.kind === "draw" && each.pixels === 0 && each.targets.includes(target.surface) && target.changedBy(each.number) < 0 && target.at(each.number) >= 0)
  .map((each) => [target.at(each.number), each.number, `E${each.number} · 0 px`]);

function inFrame(part, turn) {
  const found = principal(part);
  if (!found) return frameShot(part, turn);
  const all = [...lostDraws(found.chosen, part)];
  for (let at = found.from; at < found.to; at++) {
    const event = Math.max(first, found.chosen.pictures[at].event);
    all.push([at, event, `E${event}`]);
  }
  all.sort((a, b) => a[1] - b[1]);
  const every = Math.max(1, Math.ceil(all.length / 40)), rows = all.filter((row, at) => (all.length - 1 - at) % every === 0);
  return [model.frames.length > 1 ? element("span", { class: "gap" }, `frame ${part.number}`) : null, shotsOf({ ...found, part }, rows, turn)];
}

// Search

const search = byId("search"), found = byId("found");
let hits = [], marked = 0;

function look() {
  const text = search.value.trim(), words = text.toLowerCase();
  hits = [];
  const add = (group, title, about, act) => hits.push({ group, title, about, act });
  if (words) {
    const exact = addressed(text);
    if (exact) add("Go to", `E${exact.number}`, exact.name, () => go({ view: "frame", event: exact.number }));
    const fits = matcher(text);
    events.filter(fits).slice(0, 7).forEach((event) => add("Events", `E${event.number}`, [event.name, ...event.markers].join(" · "), () => go({ view: "frame", event: event.number })));
    model.shaders.map((shader, at) => [shader, at]).filter(([shader]) => `${shader.name} ${shader.stage} ${shader.text}`.toLowerCase().includes(words)).slice(0, 5)
      .forEach(([shader, at]) => add("Shaders", shader.stage, shader.name, () => go({ view: "shaders", shader: at, text: words })));
    model.state.paths.filter((path) => path.toLowerCase().includes(words)).slice(0, 5)
      .forEach((path) => add("State", "state", path.replaceAll("\u001f", " · "), () => { facts.text = path.split("\u001f").pop(); go({ view: "frame", tab: "state" }); }));
    series.filter((each) => each.name.toLowerCase().includes(words)).slice(0, 4).forEach((each) => add("Targets", "target", each.name, () => go({ view: "frame", series: each.key })));
    model.faults.filter((fault) => fault.text.toLowerCase().includes(words)).slice(0, 3).forEach((fault) => add("Faults", "fault", fault.text, () => go({ view: "faults" })));
  }
  marked = 0;
  draw();
}

function draw() {
  let group = null;
  found.hidden = !search.value.trim();
  search.setAttribute("aria-expanded", String(!found.hidden));
  fill(found, hits.map((hit, at) => {
    const head = hit.group === group ? null : element("div", { class: "group", role: "presentation" }, hit.group);
    group = hit.group;
    return [head, element("div", { class: "hit", role: "option", id: `hit-${at}`, "aria-selected": String(at === marked), onmousedown: (event) => { event.preventDefault(); take(at); } }, code(hit.title), element("span", {}, hit.about))];
  }), hits.length ? null : element("p", { class: "none" }, "Nothing found."));
  search.setAttribute("aria-activedescendant", hits.length ? `hit-${marked}` : "");
  byId(`hit-${marked}`)?.scrollIntoView({ block: "nearest" });
}

function take(at) {
  const hit = hits[at];
  if (!hit) return;
  found.hidden = true;
  search.setAttribute("aria-expanded", "false");
  search.blur();
  hit.act();
}

search.addEventListener("input", look);
search.addEventListener("focus", look);
search.addEventListener("blur", () => { found.hidden = true; });
search.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); marked = Math.max(0, Math.min(hits.length - 1, marked + (event.key === "ArrowDown" ? 1 : -1))); draw(); }
  else if (event.key === "Enter") take(marked);
  else if (event.key === "Escape") { search.value = ""; found.hidden = true; search.blur(); }
});

// Keyboard

const KEYS = [["j  k", "next, previous event"], ["↓  ↑", "the same"], ["J  K", "next, previous frame"], ["n  p", "next, previous event in the history of the chosen pixel"], ["Home  End", "first, last event"],
  ["/", "search"], ["f", "filter events"], ["1 … 8", "views"], ["e s h m x c", "event, state, shaders, mesh, textures, counters"], ["b", "picture before or after"],
  ["+  −  0", "zoom, fit"], ["t", "dark or light"], ["?", "this list"]];
const step = (by) => { const next = list.neighbour(chosen.event, by); if (next !== undefined) go({ event: next, view: "frame" }, true); };
const toFrame = (by) => { const at = model.frames.findIndex((each) => each.number === eventOf(chosen.event)?.frame); const next = model.frames[at + by]; if (next) go({ event: next.last, view: "frame" }); };

async function toChange(by) {
  if (!viewer.series || !chosen.pixel) return;
  const rows = storedHistory(viewer.series.key, chosen.pixel) ?? await changes(viewer.series, ...chosen.pixel, () => true);
  const numbers = rows.map((row) => row.event).filter((number) => eventOf(number));
  const next = by > 0 ? numbers.find((number) => number > chosen.event) : numbers.findLast((number) => number < chosen.event);
  if (next !== undefined) go({ event: next });
}

const tabTo = (tab) => () => go({ view: "frame", tab });
const ACTS = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1), J: () => toFrame(1), K: () => toFrame(-1), n: () => toChange(1), p: () => toChange(-1),
  Home: () => go({ event: list.kept[0]?.number ?? chosen.event }), End: () => go({ event: list.kept.at(-1)?.number ?? chosen.event }),
  "/": () => { search.focus(); search.select(); }, f: () => { go({ view: "frame" }); list.field.focus(); list.field.select(); },
  e: tabTo("event"), s: tabTo("state"), h: tabTo("shaders"), m: tabTo("mesh"), x: tabTo("textures"), c: tabTo("counters"),
  b: () => viewer.redraw({ when: viewer.when === "before" ? "after" : "before" }),
  "+": () => viewer.stage.step(1), "=": () => viewer.stage.step(1), "-": () => viewer.stage.step(-1), 0: () => { viewer.stage.zoom = null; viewer.stage.place(); },
  t: () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"), "?": () => keys(),
};
VIEWS.forEach(([key], at) => { ACTS[at + 1] = () => go({ view: key }); });
const OFF_EVENTS = new Set(["ArrowDown", "ArrowUp", "Home", "End"]);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target === list.field) { list.field.value = ""; list.text = ""; list.refresh(); list.rows.focus(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog[open]") || !Object.hasOwn(ACTS, event.key)) return;
  if (OFF_EVENTS.has(event.key) && (chosen.view !== "frame" || event.target.closest(".facts > [role=tabpanel], .pixel, pre"))) return;
  if (!events.length && !["t", "?", "/"].includes(event.key)) return;
  event.preventDefault();
  ACTS[event.key]();
});

function keys() {
  const box = byId("keys");
  fill(box, element("h2", { id: "keys-title" }, "Keyboard"), element("dl", {}, KEYS.map(([key, what]) => [element("dt", {}, key.split(/\s+/).map((each) => [element("kbd", {}, each), " "])), element("dd", {}, what)])),
    element("button", { type: "button", onclick: () => box.close() }, "Close"));
  box.showModal();
}

function theme(name, keep = true) {
  document.documentElement.dataset.theme = name;
  byId("theme").setAttribute("aria-pressed", String(name === "dark"));
  if (keep) { try { localStorage.setItem("dp2emu-theme", name); } catch { /* a page from disk may have no storage */ } }
}

// Print: a summary, the chosen picture, and every table in full.

async function printed() {
  const box = byId("print");
  if (box.childElementCount) return;
  const event = eventOf(chosen.event);
  const picture = viewer.series && viewer.stage.image ? element("img", { src: viewer.stage.canvas.toDataURL(), alt: viewer.stage.canvas.getAttribute("aria-label") }) : null;
  const most = 3000;
  fill(box, element("h1", {}, model.title), element("p", {}, byId("summary").textContent),
    model.differences.length ? [element("h2", {}, "Differences"), table("Differences", [["Picture", ""], ["Verdict", ""], ["Numbers", ""]], model.differences.map((row) => [row.name, row.within ? "same" : "differs", row.numbers.map(([name, value]) => `${name} ${shown(value)}`).join(", ")]))] : null,
    event ? [element("h2", {}, `E${event.number} ${event.name}`), picture] : null,
    model.faults.length ? [element("h2", {}, "Faults"), table("Faults", [["Event", ""], ["Error", ""]], model.faults.map((row) => [row.event === null ? "" : `E${row.event}`, row.text]))] : null,
    model.queries.length ? [element("h2", {}, "Queries"), table("Queries", [["Query", ""], ["Type", ""], ["Answer", "num"], ["Issued", "num"], ["Executing", "num"], ["Signaled", "num"], ["Delivered", "num"]],
      model.queries.map((row) => [row.query, row.type, row.answer === null ? row.state : shown(row.answer), shown(row.issued), shown(row.executing), shown(row.signaled), shown(row.delivered)]))] : null,
    element("h2", {}, "Events"), table("Events", [["Event", ""], ["Frame", "num"], ["What", ""], ["Place", ""], ["Primitives", "num"], ["Pixels", "num"], ["Time", "num"]],
      list.kept.slice(0, most).map((each) => [`E${each.number}`, each.frame, [...each.markers, each.name].join(" › "), place(each), each.primitives ? grouped(each.primitives) : "", each.pixels ? grouped(each.pixels) : "", grouped(each.time)])),
    list.kept.length > most ? element("p", {}, `The first ${grouped(most)} of ${grouped(list.kept.length)} events.`) : null);
}
const unprinted = () => fill(byId("print"));
addEventListener("beforeprint", printed);
addEventListener("afterprint", unprinted);
matchMedia("print").addEventListener("change", (event) => { if (event.matches) printed(); else unprinted(); });

// Start

let stored = null;
try { stored = localStorage.getItem("dp2emu-theme"); } catch { /* as above */ }
const dark = matchMedia("(prefers-color-scheme: dark)");
theme(stored ?? (dark.matches ? "dark" : "light"), false);
dark.addEventListener("change", (event) => { if (!stored) theme(event.matches ? "dark" : "light", false); });
byId("theme").addEventListener("click", () => ACTS.t());
byId("help").addEventListener("click", keys);
byId("summary").textContent = [...model.statistics.slice(0, 3), ["Queries", model.queries.length], ["Faults", model.faults.length]].filter(([, value]) => value)
  .map(([name, value]) => `${grouped(value)} ${value === 1 ? name.toLowerCase().replace(/ies$/, "y").replace(/s$/, "") : name.toLowerCase()}`).join("  ·  ");
addEventListener("popstate", () => { read(); show(); });
addEventListener("hashchange", () => { read(); show(); });
read();
show();
document.documentElement.dataset.ready = "true";
