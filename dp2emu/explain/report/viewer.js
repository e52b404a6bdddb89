// The picture of a target with zoom, and the history of its chosen pixel.

const ZOOMS = [0.125, 0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

// A picture on a stage: a canvas at one pixel per pixel, enlarged without smoothing.
class Stage {
  constructor(label, pick, hover) {
    this.canvas = element("canvas", { role: "img", "aria-label": label });
    this.marks = element("canvas", { "aria-hidden": "true" });
    this.easel = element("div", { class: "easel checker" }, this.canvas, this.marks);
    this.box = element("div", { class: "stage", tabindex: "0", role: "group", "aria-label": `${label}; a click chooses a pixel` }, this.easel);
    this.zoom = null;
    this.pixel = null;
    this.easel.addEventListener("click", (event) => { const at = this.spot(event); if (at) pick(at); });
    this.easel.addEventListener("mousemove", (event) => hover?.(this.spot(event)));
    this.easel.addEventListener("mouseleave", () => hover?.(null));
    this.box.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!step || !this.pixel) return;
      event.preventDefault();
      event.stopPropagation();
      const [x, y] = [this.pixel[0] + step[0], this.pixel[1] + step[1]];
      if (x >= 0 && y >= 0 && x < this.width && y < this.height) pick([x, y]);
    });
    new ResizeObserver(() => this.place()).observe(this.box);
  }

  spot(event) {
    // The event has whole numbers, which stand for the middles of the screen's pixels.
    const bounds = this.canvas.getBoundingClientRect(), [right, down] = [event.clientX + 0.5 - bounds.left, event.clientY + 0.5 - bounds.top];
    const x = Math.floor(right * this.width / bounds.width), y = Math.floor(down * this.height / bounds.height);
    return x >= 0 && y >= 0 && x < this.width && y < this.height ? [x, y] : null;
  }

  show(image, width, height, channels, mode, changed = null) {
    Object.assign(this, { image, width, height, channels });
    paint(this.canvas, image, width, height, channels, mode);
    if (changed) this.dim(changed);
    this.place();
  }

  // Pixels that did not change fade, the others keep their colour.
  dim(before) {
    const pen = this.canvas.getContext("2d"), shown = pen.getImageData(0, 0, this.width, this.height), c = this.channels;
    for (let i = 0, n = this.width * this.height; i < n; i++) {
      let same = true;
      for (let k = 0; k < c && same; k++) same = this.image[i * c + k] === before[i * c + k];
      if (same) for (let k = 0; k < 3; k++) shown.data[4 * i + k] = Math.round(shown.data[4 * i + k] * 0.18 + 96);
    }
    pen.putImageData(shown, 0, 0);
  }

  get fitted() {
    const wide = (this.box.clientWidth - 30) / this.width, high = (this.box.clientHeight - 30) / this.height;
    const most = Math.max(0.01, Math.min(wide, high));
    return most >= 3 ? Math.min(Math.floor(most), 32) : most >= 1 ? Math.floor(most * 4) / 4 : most;
  }

  get scale() { return this.zoom ?? this.fitted; }

  place() {
    if (!this.width) return;
    const scale = this.scale;
    for (const canvas of [this.canvas, this.marks]) {
      canvas.style.width = `${this.width * scale}px`;
      canvas.style.height = `${this.height * scale}px`;
    }
    this.canvas.style.imageRendering = scale < 1 ? "auto" : "pixelated";
    this.mark();
    this.placed?.();
  }

  mark() {
    const scale = this.scale, wide = Math.min(4096, Math.round(this.width * scale)), high = Math.min(4096, Math.round(this.height * scale));
    this.marks.width = wide;
    this.marks.height = high;
    this.markStored(wide / this.width, high / this.height);
    if (!this.pixel || this.pixel[0] >= this.width || this.pixel[1] >= this.height) return;
    const pen = this.marks.getContext("2d"), size = Math.max(7, wide / this.width);
    const x = (this.pixel[0] + 0.5) * wide / this.width - size / 2, y = (this.pixel[1] + 0.5) * high / this.height - size / 2;
    for (const [colour, width, out] of [["#000", 3, 1], ["#fff", 1.25, 1]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.strokeRect(x - out, y - out, size + 2 * out, size + 2 * out);
    }
  }

  // A dot on each pixel that has a history.
  markStored(wide, high) {
    const pen = this.marks.getContext("2d"), size = Math.max(1, Math.min(3, wide / 2));
    pen.fillStyle = "#fff";
    for (const [x, y] of this.spots ?? []) pen.fillRect((x + 0.5) * wide - size / 2, (y + 0.5) * high - size / 2, size, size);
  }

  step(by) {
    const now = this.scale;
    const next = by > 0 ? ZOOMS.find((each) => each > now * 1.001) : ZOOMS.findLast((each) => each < now * 0.999);
    if (!next) return;
    const box = this.box, x = (box.scrollLeft + box.clientWidth / 2) / now, y = (box.scrollTop + box.clientHeight / 2) / now;
    this.zoom = next;
    this.place();
    box.scrollTo(x * next - box.clientWidth / 2, y * next - box.clientHeight / 2);
  }
}

const segment = (label, choices, chosen, choose) => element("div", { class: "seg", role: "group", "aria-label": label }, choices.map(([key, title, more]) =>
  element("button", { type: "button", "aria-pressed": String(key === chosen), "aria-label": more ?? null, onclick: () => choose(key) }, title)));

const options = (label, choices, chosen, choose) => {
  const made = element("select", { "aria-label": label }, choices.map(([key, title]) => element("option", { value: key, selected: key === chosen }, title)));
  made.addEventListener("change", () => choose(made.value));
  return made;
};

function colour(value, channels) {
  if (!value) return "–";
  if (channels === 2) return code(`${+(value[0] / 65535).toFixed(6)}`);
  if (channels === 1) return code(value[0]);
  const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
  swatch.style.background = `rgb(${value[0]} ${value[1]} ${value[2]})`;
  return element("span", {}, swatch, code(value.join(" ")));
}

class Viewer {
  constructor(go) {
    this.go = go;
    this.mode = "rgb";
    this.when = "after";
    this.stage = new Stage("Picture of the target", (pixel) => go({ pixel, series: this.series?.key }), (at) => this.hovered(at));
    this.tools = element("div", { class: "tools" });
    this.size = element("span", { class: "size mono" });
    this.pixel = element("section", { class: "pixel", id: "pixel", "aria-label": "Pixel" });
    this.box = element("section", { class: "picture", "aria-label": "Picture" }, this.tools, this.stage.box, this.pixel);
    this.stage.placed = () => this.sized();
  }

  // The chosen target, or the first one that the event changed, or writes to.
  pick(event, wanted) {
    const asked = series.find((each) => each.key === wanted);
    if (asked) return asked;
    const changed = series.filter((each) => each.changedBy(event.number) >= 0);
    const near = changed.find((each) => each.shows === "color") ?? changed[0];
    if (near) return near;
    const bound = event.targets.map((at) => series.find((each) => each.surface === at && each.at(event.number) >= 0)).find(Boolean);
    return bound ?? (this.series && this.series.at(event.number) >= 0 ? this.series : null)
      ?? series.find((each) => each.at(event.number) >= 0 && each.shows === "color") ?? series[0];
  }

  async show(event, wanted, pixel) {
    const turn = this.turn = {};
    this.event = event;
    this.wanted = wanted;
    const chosen = this.series = event && series.length ? this.pick(event, wanted) : undefined;
    this.stage.pixel = pixel;
    this.draw();
    if (!chosen) {
      this.stage.easel.hidden = true;
      fill(this.pixel, element("p", { class: "quiet" }, "There is no picture: no event of this page wrote a target that has one."));
      return;
    }
    this.stage.easel.hidden = false;
    const at = chosen.at(event.number), changed = chosen.changedBy(event.number);
    const image = await chosen.image(this.when === "before" && changed >= 0 ? at - 1 : at);
    const before = this.when === "changed" ? (changed >= 0 ? await chosen.image(at - 1) : image) : null;
    if (turn !== this.turn) return;
    this.stage.show(image, chosen.width, chosen.height, chosen.channels, this.mode, before);
    this.stage.canvas.setAttribute("aria-label", `${chosen.name} ${this.when === "before" ? "before" : "after"} E${event.number}, ${chosen.width} by ${chosen.height} pixels`);
    await this.history(turn, pixel);
  }

  redraw(change) {
    Object.assign(this, change);
    this.show(this.event, this.wanted, this.stage.pixel);
  }

  draw() {
    if (!this.series) { fill(this.tools); return; }
    const grey = this.series.channels <= 2, modes = grey ? GREYS : MODES.filter(([key]) => this.series.channels === 4 || !["rgba", "a"].includes(key));
    if (!modes.some(([key]) => key === this.mode)) this.mode = modes[0][0];
    const changed = (each) => each.changedBy(this.event.number) >= 0 ? " •" : "";
    const focus = document.activeElement?.getAttribute("aria-label");
    fill(this.tools,
      options("Target", [["", `Follow event (${this.series.name})`], ...series.map((each) => [each.key, each.name + changed(each)])], this.wanted ?? "", (key) => this.go({ series: key || undefined })),
      segment("Moment", [["before", "Before"], ["after", "After"], ["changed", "Changed"]], this.when, (when) => this.redraw({ when })),
      options("Channels", modes, this.mode, (mode) => this.redraw({ mode })),
      element("div", { class: "seg", role: "group", "aria-label": "Zoom" },
        element("button", { type: "button", "aria-label": "Smaller", onclick: () => this.stage.step(-1) }, "−"),
        element("button", { type: "button", "aria-label": "Fit to the window", onclick: () => { this.stage.zoom = null; this.stage.place(); } }, "Fit"),
        element("button", { type: "button", "aria-label": "Larger", onclick: () => this.stage.step(1) }, "+")),
      this.older(), this.size);
    if (focus) this.tools.querySelector(`[aria-label="${CSS.escape(focus)}"]`)?.focus();
    this.sized();
  }

  // A full page does not have every picture: which one is shown instead.
  older() {
    const { complete, pictures } = this.series, shownAt = pictures[Math.max(0, this.series.at(this.event.number))].event;
    if (complete === null || this.event.number <= complete || shownAt === this.event.number) return null;
    return badge(`of E${Math.max(first, shownAt)}: later pictures are not on this page`, "warn");
  }

  sized() {
    if (!this.series) return;
    const scale = this.stage.scale;
    this.size.textContent = `${this.series.width} × ${this.series.height}  ${model.surfaces[this.series.surface]?.format ?? ""}  ${scale >= 1 ? `${+scale.toFixed(2)}×` : `${Math.round(scale * 100)} %`}`;
  }

  hovered(at) {
    if (!at || !this.stage.image) { this.sized(); return; }
    const value = sample(this.stage.image, this.stage.width, this.stage.channels, ...at);
    this.size.textContent = `${at[0]}, ${at[1]}  ${this.stage.channels === 2 ? +(value[0] / 65535).toFixed(6) : value.join(" ")}`;
  }

  async history(turn, pixel) {
    if (!pixel || pixel[0] >= this.series.width || pixel[1] >= this.series.height) {
      fill(this.pixel, element("p", { class: "quiet" }, "Click a pixel to see which events changed it."));
      return;
    }
    const [x, y] = pixel, chosen = this.series;
    const value = sample(this.stage.image, chosen.width, chosen.channels, x, y);
    const told = storedHistory(chosen.key, pixel), near = told ? null : nearestStored(chosen.key, pixel, (at) => sample(this.stage.image, chosen.width, chosen.channels, ...at).join() === value.join());
    if (!told) fill(this.pixel, element("header", {}, element("h2", {}, `Pixel ${x}, ${y}`), element("span", { class: "quiet" }, "reading the pictures …")));
    const rows = told ?? await changes(chosen, x, y, () => turn === this.turn);
    if (turn !== this.turn || !rows) return;
    // The head stays in view while the rows scroll.
    this.many = told?.some((row) => row.sample > 0);
    const past = element("div", { class: "past" },
      rows.length ? table("History of the pixel", told ? TOLD : SEEN, rows.map((row) => told ? this.told(row) : this.seen(row)), (at) => rows[at].event === this.event.number ? "here" : "")
        : element("p", { class: "quiet" }, "No event of this page changed this pixel."),
      near ? element("p", { class: "quiet" }, "Of the same colour here, with all fragments: ", element("button", { class: "link", type: "button", onclick: () => this.go({ pixel: near, series: chosen.key }) }, `nearest pixel that has a history: ${near.join(", ")}`)) : null,
      this.stepping(rows),
      told ? null : element("p", { class: "quiet" }, "Fragments that lost, and the reasons: ", command(`dp2emu pixel ${model.file} ${x} ${y} --target ${chosen.surface} --at E${this.event.number}`)));
    fill(this.pixel,
      element("header", {}, element("h2", {}, `Pixel ${x}, ${y}`), element("span", { class: "quiet" }, chosen.name), element("span", {}, colour(value, chosen.channels)),
        element("span", { class: "quiet" }, told ? "all fragments, with their verdicts" : `${count(rows.length, "event")} changed it`)),
      past);
    this.reveal(past.querySelectorAll("tbody tr")[rows.findLastIndex((row) => row.event <= this.event.number)], past);
  }

  // How to step through the pixel shader of the last fragment that the event has here.
  stepping(rows) {
    const row = rows.filter((each) => each.event === this.event.number && !UNSHADED.has(each.verdict)).at(-1);
    if (this.event.kind !== "draw" || !row) return null;
    const primitive = row.primitive === undefined ? "" : ` --primitive ${row.primitive}`;
    return element("p", { class: "quiet" }, "The pixel shader, step by step: ", command(`dp2emu debug ${model.file} E${this.event.number} pixel ${this.stage.pixel.join(" ")}${primitive}`));
  }

  // Scrolls a row of the history into view, and nothing else.
  reveal(row, past) {
    if (!row) return;
    const inside = row.getBoundingClientRect(), box = past.getBoundingClientRect(), head = past.querySelector("thead").offsetHeight;
    if (inside.bottom > box.bottom) past.scrollTop += inside.bottom - box.bottom + 8;
    else if (inside.top < box.top + head) past.scrollTop -= box.top + head - inside.top + 8;
  }

  link(number) {
    const event = eventOf(number);
    return element("button", { class: "link mono", type: "button", onclick: () => this.go({ event: number }) }, event ? `E${number}` : `E${number} (not here)`);
  }

  // What an event is, and for a copy the link to the pixel that it read.
  what(row) {
    const event = eventOf(row.event), name = event?.name ?? row.kind ?? "start", from = event?.source;
    if (!from) return breakable(name);
    const at = copiedFrom(event, this.series, this.stage.pixel), words = `from surface ${from.surface}`;
    return [breakable(name), " ", at ? element("button", { class: "link", type: "button", onclick: () => this.go({ event: row.event, ...at }) }, words) : element("span", { class: "quiet" }, words)];
  }

  seen(row) { return [this.link(row.event), element("span", {}, this.what(row)), colour(row.before, this.series.channels), colour(row.after, this.series.channels)]; }

  told(row) {
    const kind = { written: "good", masked: "warn", discarded_target: "warn", does_nothing: "warn", coverage: "" }[row.verdict] ?? "bad";
    const verdict = element("span", { title: row.detail || null }, badge(reason(row), kind), passed(row).map((text) => element("span", { class: "quiet" }, ` ${text}`)));
    const same = row.before && String(row.before) === String(row.after);
    return [this.link(row.event), verdict, element("span", {}, this.what(row)), [row.primitive ?? "", this.many ? element("div", { class: "quiet" }, `sample ${row.sample}`) : null], numbers(row.output), numbers(row.before), same ? element("span", { class: "quiet" }, "same") : numbers(row.after)];
  }
}

// Verdicts of primitives that have no fragment at the pixel.
const UNSHADED = new Set(["coverage", "clipped", "culled", "scissor", "sample_mask", "does_nothing"]);

// A verdict, with the test that failed in words.
function reason(row) {
  const name = row.verdict.replaceAll("_", " "), test = ["depth", "stencil"].includes(row.verdict) ? row[row.verdict] : null;
  return test ? `${name}: ${test} fails` : name;
}

// What else is known of a fragment: the tests that it passed, and details.
function passed(row) {
  const tests = ["depth", "stencil"].filter((test) => row[test] && row.verdict !== test).map((test) => `${test}: ${row[test]}`);
  return [row.detail, ...tests].filter(Boolean);
}

// The whole history of a pixel of a series, if the page has it.
const storedHistory = (key, pixel) => model.histories[key]?.[pixel.join(",")];
const storedPixels = (key) => Object.keys(model.histories[key] ?? {}).map((text) => text.split(",").map(Number));

// The pixel itself if it has a history, else the nearest one that has, of those that fit.
function nearestStored(key, pixel, fits) {
  if (storedHistory(key, pixel)) return pixel;
  const far = ([x, y]) => (x - pixel[0]) ** 2 + (y - pixel[1]) ** 2;
  return storedPixels(key).filter(fits).sort((a, b) => far(a) - far(b))[0] ?? null;
}

// The place from which an event copied a pixel of a series, as a change of what is chosen; null if it did not.
function copiedFrom(event, chosen, [x, y]) {
  const { surface, read, written } = event?.source ?? {};
  if (!read || !event.targets.includes(chosen.surface) || x < written[0] || y < written[1] || x >= written[2] || y >= written[3]) return null;
  const from = series.find((each) => each.surface === surface && each.shows === chosen.shows);
  const along = (value, at) => read[at] + Math.floor((value - written[at]) * (read[at + 2] - read[at]) / (written[at + 2] - written[at]));
  return from ? { series: from.key, pixel: [along(x, 0), along(y, 1)] } : null;
}

// What decides a pixel until an event: the last clear, or fragment that a draw wrote or a test rejected, or draw that did nothing, where copies read from another surface there.
function decisive(key, pixel, until) {
  const chosen = series.find((each) => each.key === key);
  const copied = (row) => copiedFrom(eventOf(row.event), chosen, pixel);
  const decides = (row) => row.kind === "draw" ? row.verdict !== "coverage" : row.kind === "clear" || copied(row);
  const row = storedHistory(key, pixel)?.findLast((each) => each.event <= until && eventOf(each.event) && decides(each));
  if (!row) return null;
  const from = ["draw", "clear"].includes(row.kind) ? null : copied(row);
  return (from && decisive(from.series, from.pixel, row.event - 1)) ?? { event: row.event, series: key, pixel };
}

// Stored numbers or a shader's output, with a swatch if they are a colour.
function numbers(values) {
  if (!values) return "";
  const short = (value) => (typeof value === "number" && !Number.isInteger(value) ? String(+value.toPrecision(4)) : String(value));
  const text = element("span", { title: values.join(", ") }, code(values.map(short).join("  ")));
  if (values.length < 3 || values.some((value) => typeof value !== "number")) return text;
  const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
  swatch.style.background = `rgb(${values.slice(0, 3).map((value) => Math.round(255 * Math.max(0, Math.min(1, value)))).join(" ")})`;
  return element("span", {}, swatch, text);
}

const SEEN = [["Event", ""], ["What", ""], ["Before", ""], ["After", ""]];
const TOLD = [["Event", "tight"], ["Verdict", "verdict"], ["What", "what"], ["Prim.", "num"], ["Output", ""], ["Before", ""], ["After", ""]];

// The events whose pictures differ at a pixel, found in the pictures that the page has.
async function changes(chosen, x, y, wanted) {
  const image = new Uint8Array(chosen.width * chosen.height * chosen.channels), rows = [];
  let before = null;
  for (const each of chosen.pictures) {
    if (!wanted()) return null;
    if (each.whole) image.fill(0);
    const [left, top, wide, high] = each.box;
    if (!each.whole && (x < left || y < top || x >= left + wide || y >= top + high) ) {
      // Later pictures build on this one only where they overlap it, and never at this pixel.
      continue;
    }
    patch(image, chosen.width, chosen.channels, each.box, await inflated(model.blobs[each.data]));
    const after = sample(image, chosen.width, chosen.channels, x, y);
    if (before === null || after.some((value, at) => value !== before[at])) {
      // The first picture is the content before any event.
      if (before !== null) rows.push({ event: each.event, before, after });
      before = after;
    }
  }
  return rows;
}
