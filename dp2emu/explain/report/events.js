// Events: addresses, filter, and the list.

const events = model.events;
const first = events.length ? events[0].number : 0;
const eventOf = (number) => events[number - first];
const KINDS = { draw: "Draws", clear: "Clears", copy: "Copies", blit: "Blits", write: "Writes", dispatch: "Dispatches", resolve: "Resolves",
  generate: "Mip levels", present: "Presents", flip: "Flips", query_begin: "Query begins", query_end: "Query ends", marker: "Markers" };
const faulty = new Map();
for (const fault of model.faults) if (fault.event !== null && fault.event !== undefined) faulty.set(fault.event, fault);

function place(event) {
  if (event.call === null || event.call === undefined) return "";
  const token = event.token === null || event.token === undefined ? `${event.call}` : `${event.call}:${event.token}`;
  return event.item ? `${token}.${event.item}` : token;
}

// What an event does with a query: "begin 3"; empty for another event.
function asked(event) {
  const word = { query_begin: "begin", query_end: "end" }[event.kind];
  return word && event.query !== null ? `${word} ${event.query}` : "";
}

const naming = events.map((event) => [`e${event.number}`, event.name, event.reason, asked(event), event.kind, ...event.markers, event.topology,
  ...event.shaders.map((at) => model.shaders[at]?.name), ...event.targets.map((at) => model.surfaces[at]?.label)]
  .filter(Boolean).join(" ").toLowerCase());

// Words of a filter: `kind:draw`, `frame:2`, `target:3`, `shader:vs`, `marker:sky`, `px>0`, else any text.
function matcher(text) {
  const tests = text.trim().toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const not = word.length > 1 && word.startsWith("-");
    const test = tested(not ? word.slice(1) : word);
    return not ? (event, at) => !test(event, at) : test;
  });
  return (event, at) => tests.every((test) => test(event, at));
}

const FIELDS = {
  kind: (event, value) => event.kind.startsWith(value),
  frame: (event, value) => String(event.frame) === value,
  call: (event, value) => String(event.call) === value,
  target: (event, value) => event.targets.some((at) => String(at) === value || model.surfaces[at]?.label.toLowerCase().includes(value)),
  texture: (event, value) => event.textures.some(([, , at]) => model.textures[at]?.label.toLowerCase().includes(value)),
  shader: (event, value) => event.shaders.some((at) => model.shaders[at]?.name.toLowerCase().includes(value)),
  marker: (event, value) => event.markers.some((each) => each.toLowerCase().includes(value)),
  fault: (event) => faulty.has(event.number),
};

function tested(word) {
  const [, field, value] = /^([a-z]+):(.*)$/.exec(word) ?? [];
  if (field && Object.hasOwn(FIELDS, field)) return (event) => FIELDS[field](event, value);
  const [, name, sign, number] = /^(px|pixels|prims|primitives)([<>=])(\d+)$/.exec(word) ?? [];
  if (name) {
    const read = name.startsWith("px") || name === "pixels" ? (event) => event.pixels : (event) => event.primitives;
    const holds = { "<": (a) => a < +number, ">": (a) => a > +number, "=": (a) => a === +number }[sign];
    return (event) => holds(read(event));
  }
  return (event, at) => naming[at].includes(word);
}

// The event of an address: E123, 7:3, 7:3.1, @456, frame 2, f2, or a call's number.
function addressed(text) {
  const said = text.trim().toLowerCase();
  let found;
  if ((found = /^e(\d+)$/.exec(said))) return eventOf(+found[1]);
  if ((found = /^(\d+):(\d+)(?:\.(\d+))?$/.exec(said)))
    return events.find((each) => each.call === +found[1] && each.token === +found[2] && (!found[3] || each.item === +found[3]));
  if ((found = /^@(\d+)$/.exec(said))) return events.find((each) => each.api_call !== null && each.api_call >= +found[1]);
  if ((found = /^(?:frame\s*|f)(\d+)$/.exec(said))) return events.findLast((each) => each.frame === +found[1]);
  if ((found = /^(\d+)$/.exec(said))) return events.find((each) => each.call === +found[1]);
  return undefined;
}

const ROW = 24;

// The list shows the rows that are in view only, so that a capture of 100,000 events scrolls.
class EventList {
  constructor(choose) {
    this.choose = choose;
    this.kinds = new Set();
    this.text = "";
    this.box = element("section", { class: "list", "aria-label": "Events" });
    this.field = element("input", { type: "search", id: "filter", placeholder: "Filter: draw, target:2, px>0, -kind:query …", "aria-label": "Filter events",
      autocomplete: "off", spellcheck: "false", oninput: () => { this.text = this.field.value; this.refresh(); } });
    this.number = element("span", { class: "of", id: "of" });
    this.chips = element("div", { class: "chips", role: "group", "aria-label": "Kinds of events" });
    this.tall = element("div", { class: "tall" });
    this.rows = element("div", { class: "rows", id: "events", role: "listbox", tabindex: "0", "aria-label": "List of events" }, this.tall);
    this.rows.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.rows);
    append(this.box, [
      element("div", { class: "filter" }, element("div", { class: "row" }, this.field, this.number), this.chips),
      element("div", { class: "cols", "aria-hidden": "true" }, ["Event", "What", "Place", "Pixels"].map((title) => element("span", {}, title))),
      this.rows]);
    this.refresh();
  }

  refresh() {
    const there = [...new Set(events.map((each) => each.kind))];
    if (there.length > 1) fill(this.chips, there.map((kind) => element("button", { class: "chip", type: "button", "aria-pressed": String(this.kinds.has(kind)),
      onclick: () => { this.kinds.has(kind) ? this.kinds.delete(kind) : this.kinds.add(kind); this.refresh(); } },
      element("span", { class: `dot ${kind}` }), KINDS[kind] ?? kind)));
    const fits = matcher(this.text);
    this.kept = events.filter((event, at) => (!this.kinds.size || this.kinds.has(event.kind)) && fits(event, at));
    this.lines = this.grouped();
    this.number.textContent = this.kept.length === events.length ? grouped(events.length) : `${grouped(this.kept.length)} of ${grouped(events.length)}`;
    this.tall.style.height = `${this.lines.length * ROW}px`;
    this.draw();
  }

  // Lines of the list: events, and a heading where the frame or the markers change.
  grouped() {
    const lines = [];
    let frame = null, markers = "";
    for (const event of this.kept) {
      if (event.frame !== frame) { lines.push({ title: `Frame ${event.frame}`, depth: 0 }); frame = event.frame; markers = ""; }
      const joined = event.markers.join("\u0000");
      if (joined !== markers) {
        if (event.markers.length) lines.push({ title: event.markers.join(" › "), depth: 1 });
        markers = joined;
      }
      lines.push({ event, depth: event.markers.length ? 1 : 0 });
    }
    return lines;
  }

  draw() {
    const top = Math.max(0, Math.floor(this.rows.scrollTop / ROW) - 8);
    const bottom = Math.min(this.lines.length, top + Math.ceil((this.rows.clientHeight || 600) / ROW) + 16);
    fill(this.tall, this.lines.slice(top, bottom).map((line, index) => this.line(line, top + index)));
    if (!this.lines.length) append(this.tall, [element("p", { class: "none" }, "No event fits the filter.")]);
    this.rows.setAttribute("aria-activedescendant", this.chosen === undefined ? "" : `event-${this.chosen}`);
  }

  line(line, at) {
    const { event } = line;
    const row = element("div", event
      ? { class: "item", role: "option", id: `event-${event.number}`, "aria-selected": String(event.number === this.chosen), "aria-setsize": this.lines.length, "aria-posinset": at + 1,
          onclick: () => this.choose(event.number) }
      : { class: "item head", role: "presentation" });
    row.style.top = `${at * ROW}px`;
    row.style.paddingLeft = `${10 + (event ? line.depth * 10 : 0)}px`;
    if (!event) { append(row, [element("span", { title: line.title }, line.title)]); return row; }
    const more = event.reason || asked(event);
    const what = element("span", { class: "what" }, element("span", { class: `dot ${event.kind}` }), element("b", { title: more || event.name }, event.name), more ? element("span", { class: "quiet" }, ` ${more}`) : null);
    append(row, [element("span", { class: faulty.has(event.number) ? "no hit" : "no" }, `E${event.number}`), what,
      element("span", { class: "at" }, place(event)), element("span", { class: "px" }, event.pixels || event.kind === "draw" ? grouped(event.pixels) : "")]);
    return row;
  }

  select(number) {
    this.chosen = number;
    const at = this.lines.findIndex((line) => line.event?.number === number);
    if (at >= 0) {
      const top = at * ROW, high = this.rows.clientHeight;
      if (top < this.rows.scrollTop + ROW) this.rows.scrollTop = Math.max(0, top - 2 * ROW);
      else if (top + 2 * ROW > this.rows.scrollTop + high) this.rows.scrollTop = top + 3 * ROW - high;
    }
    this.draw();
  }

  // The event `by` places after the chosen one in the filtered list.
  neighbour(number, by) {
    let at = this.kept.findIndex((event) => event.number >= number);
    if (at < 0) at = this.kept.length;
    if (by > 0 && this.kept[at]?.number !== number) at--;
    const next = Math.max(0, Math.min(this.kept.length - 1, at + by));
    return this.kept[next]?.number;
  }
}
