// The other views: differences, queries, shaders, textures, statistics and faults.

const sheet = (title, about, ...children) => element("div", { class: "sheet" }, element("h2", {}, title), about ? element("p", { class: "quiet" }, about) : null, children);

const seriesOf = (row) => series.find((each) => each.surface === row.surface && each.shows === "color")?.key;

class Differences {
  constructor(go) {
    this.go = go;
    this.names = element("nav", { class: "names", "aria-label": "Compared pictures" });
    const pick = (pixel) => this.go({ pixel, view: "differences" });
    this.stages = ["This replay", "Reference", "Difference"].map((title) => new Stage(title, pick));
    this.head = element("div", { class: "tools" });
    this.foot = element("section", { class: "pixel", "aria-label": "Pixel" });
    this.trio = element("div", { class: "trio" }, this.stages.map((stage, at) => element("figure", {}, element("figcaption", {}, ["This replay", "Reference", "Difference"][at]), stage.box)));
    this.box = element("div", { class: "compare" }, this.names, element("div", { class: "shown" }, this.head, this.trio, this.foot));
  }

  show(at, pixel) {
    if (!model.differences.length) return sheet("Differences", "No picture was compared. Run the report with --against and a folder of reference pictures.");
    const row = model.differences[at];
    this.pixel = pixel && row.picture && pixel[0] < row.picture.width && pixel[1] < row.picture.height ? pixel : row.first;
    if (at === this.at) { if (this.drawn) this.point(); } else { this.at = at; this.draw(); }
    return this.box;
  }

  async draw() {
    const row = model.differences[this.at];
    this.drawn = false;
    this.theirs = null;
    fill(this.names, model.differences.map((each, at) => element("button", { type: "button", "aria-current": at === this.at ? "true" : null, onclick: () => this.go({ view: "differences", picture: at, pixel: undefined }) },
      each.name, " ", badge(each.within ? "same" : each.reference ? "differs" : "no reference", each.within ? "good" : "bad"), each.summary ? element("div", { class: "quiet" }, each.summary) : null)));
    fill(this.head, element("strong", {}, row.name), row.event === null ? null : element("button", { class: "link mono", type: "button", onclick: () => this.go({ view: "frame", event: row.event, pixel: this.pixel ?? undefined, series: seriesOf(row) }) }, `E${row.event}`),
      row.numbers.map(([name, value]) => element("span", { class: "quiet" }, `${name} `, code(shown(value)))));
    this.trio.hidden = !row.picture;
    if (!row.picture) { fill(this.foot, this.pictureless(row)); return; }
    const { width, height, channels } = row.picture;
    const ours = await single(row.picture), theirs = row.other ? await single(row.other) : null;
    // Another picture may have been chosen meanwhile.
    if (row !== model.differences[this.at]) return;
    this.theirs = theirs;
    this.stages[0].show(ours, width, height, channels, "rgb");
    this.stages[2].spots = storedPixels(seriesOf(row));
    if (this.theirs) {
      this.stages[1].show(this.theirs, row.other.width, row.other.height, row.other.channels, "rgb");
      if (row.other.width === width && row.other.height === height) this.stages[2].show(apart(ours, channels, this.theirs, row.other.channels, width * height), width, height, 3, "rgb");
    }
    this.drawn = true;
    this.point();
  }

  // What stands for the pictures of a row: a page has no room for all of those that differ least.
  pictureless(row) {
    return [element("p", { class: "quiet" }, row.summary), row.event === null ? null : element("p", { class: "quiet" }, "Both pictures are left out, so that the page stays small. "),
      row.event === null || !seriesOf(row) ? null : element("button", { class: "link", type: "button", onclick: () => this.go({ view: "frame", event: row.event, pixel: row.first ?? undefined, series: seriesOf(row) }) }, "Show the event")];
  }

  // The pixel whose history stands for a pixel: itself, or the nearest of the same two colours.  One that differs has the nearest of any colours else.
  stored(row, pixel) {
    const key = seriesOf(row), values = (at) => this.values(row, at).join(" ");
    const differs = sample(this.stages[2].image, row.picture.width, 3, ...pixel)[0] !== SAME;
    const inside = ([x, y]) => x < row.picture.width && y < row.picture.height;
    return nearestStored(key, pixel, (at) => inside(at) && values(at) === values(pixel)) ?? (differs ? nearestStored(key, pixel, inside) : null);
  }

  // The channels of both pictures at a pixel.
  values(row, [x, y]) {
    return [...sample(this.stages[0].image, row.picture.width, row.picture.channels, x, y), ...sample(this.theirs, row.other.width, row.other.channels, x, y)];
  }

  // What follows the history of the pixel, at the event that decided it.
  follow(row, pixel) {
    if (row.event === null) return null;
    const key = seriesOf(row), alike = row.other.width === row.picture.width && row.other.height === row.picture.height;
    const near = alike ? this.stored(row, pixel) : null, there = near ?? pixel, own = there[0] === pixel[0] && there[1] === pixel[1];
    const place = (near && decisive(key, near, row.event)) ?? { event: row.event, pixel: there, series: key };
    const link = element("button", { class: "link", type: "button", onclick: () => this.go({ view: "frame", ...place }) }, "Follow its history");
    return [link, own ? null : element("span", { class: "quiet" }, `history of the nearest pixel that has one: ${there.join(", ")}`)];
  }

  point() {
    const row = model.differences[this.at], pixel = this.pixel;
    for (const stage of this.stages) { stage.pixel = pixel; stage.mark(); }
    if (!pixel || !this.theirs) { fill(this.foot, element("p", { class: "quiet" }, "Click a pixel to compare its values.")); return; }
    const [x, y] = pixel;
    const there = x < row.other.width && y < row.other.height;
    fill(this.foot, element("header", {}, element("h2", {}, `Pixel ${x}, ${y}`), element("span", {}, "here ", colour(sample(this.stages[0].image, row.picture.width, row.picture.channels, x, y), row.picture.channels)),
      element("span", {}, "reference ", there ? colour(sample(this.theirs, row.other.width, row.other.channels, x, y), row.other.channels) : "outside"),
      this.follow(row, pixel)));
  }
}

const SAME = 24;

// The differences of two pictures, largest channel of each pixel, as a map from dark to bright.
function apart(one, channels, other, others, pixels) {
  const out = new Uint8Array(pixels * 3), least = Math.min(channels, others);
  for (let i = 0; i < pixels; i++) {
    let most = 0;
    for (let k = 0; k < least; k++) most = Math.max(most, Math.abs(one[i * channels + k] - other[i * others + k]));
    if (most) { const high = Math.round(120 + most * 135 / 255); out[3 * i] = high; out[3 * i + 1] = Math.round(most * 0.8); out[3 * i + 2] = 40; }
    else out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = SAME;
  }
  return out;
}

function queriesSheet(go) {
  const rows = model.queries;
  if (!rows.length) return sheet("Queries", "The capture has no query.");
  const last = Math.max(...rows.map((row) => row.delivered ?? row.signaled ?? row.executing ?? row.issued ?? 0)), least = Math.min(...rows.map((row) => row.issued ?? last));
  const percent = (time) => (time - least) * 100 / Math.max(1, last - least);
  const lane = (row) => {
    const steps = [["wait", row.issued, row.executing], ["work", row.executing, row.signaled], ["ready", row.signaled, row.delivered]].filter(([, from, to]) => from !== null && to !== null);
    const words = steps.map(([kind, from, to]) => `${{ wait: "waits", work: "executes", ready: "signaled, not delivered" }[kind]} ${to - from} ticks`).join(", ");
    return element("div", { class: "lane", role: "img", "aria-label": words || "not executed", title: words }, steps.map(([kind, from, to]) => {
      const bar = element("i", { class: kind });
      bar.style.left = `${percent(from)}%`;
      bar.style.width = `${Math.max(0, percent(to) - percent(from))}%`;
      return bar;
    }));
  };
  const link = (number) => number === null || number === undefined ? "" : element("button", { class: "link mono", type: "button", onclick: () => go({ view: "frame", event: number }) }, `E${number}`);
  const tick = (time) => time === null || time === undefined ? "–" : grouped(time);
  const key = ["wait", "work", "ready"].map((kind) => element("span", { class: "key" }, element("i", { class: kind, "aria-hidden": "true" }), { wait: "issued, waiting", work: "executing", ready: "signaled, not yet delivered" }[kind]));
  return sheet("Queries", `${rows.length === 1 ? "1 answer" : `${grouped(rows.length)} answers`} from ${grouped(least)} to ${grouped(last)} ticks.${last === least ? " The GPU took no time; --timing gives it some." : ""}`, element("p", {}, key), element("div", { class: "box" },
    table("Queries", [["Query", ""], ["Type", "tight"], ["Begin", ""], ["End", ""], ["Answer", "num"], ["Timeline", ""], ["Issued", "num"], ["Executing", "num"], ["Signaled", "num"], ["Delivered", "num"], ["Buffer and offset", ""], ["Counted", ""], ["Account", ""]],
      rows.map((row) => [code(row.query), row.type, link(row.began), link(row.ended), element("div", {}, row.answer === null ? null : shown(row.answer), " ", row.state === "delivered" ? null : badge(row.state, "warn"), row.recorded === null ? null : element("div", { class: "quiet" }, `recorded: ${shown(row.recorded)}`), row.waits.map((each) => element("div", { class: "quiet" }, each))), lane(row), tick(row.issued), tick(row.executing), tick(row.signaled), tick(row.delivered),
        row.buffer === null ? "" : code(row.offset === null ? row.buffer : `${row.buffer} + ${row.offset}`),
        row.counted.length ? element("span", {}, row.counted.slice(0, 6).map(([number, samples]) => element("div", {}, link(number), ` ${samples}`)), row.counted.length > 6 ? element("div", { class: "quiet" }, `and ${row.counted.length - 6} more`) : null) : "", account(row)]))));
}

// What dp2emu why tells of an answer, as far as the page has it.
function account(row) {
  if (!row.told.length) return "";
  const lines = row.told.map((line) => element("div", {}, line));
  return element("details", { class: "account" }, element("summary", {}, "why"), element("div", { class: "mono" }, lines));
}

function shadersView(go, chosen, text) {
  if (!model.shaders.length) return sheet("Shaders", "No event of this page runs a shader.");
  const at = model.shaders[chosen] ? chosen : 0, shader = model.shaders[at];
  const users = events.filter((event) => event.shaders.includes(at));
  const names = model.shaders.map((each, number) => element("button", { type: "button", "aria-current": number === at ? "true" : null, onclick: () => go({ shader: number }) },
    element("span", {}, each.name), element("div", { class: "quiet" }, `${each.stage} · ${each.about}`)));
  return element("div", { class: "shaders" }, element("nav", { class: "names", "aria-label": "Shaders" }, names),
    element("div", { class: "text" }, element("h2", {}, code(shader.name)), element("p", { class: "quiet" }, `${shader.stage} · ${shader.about} · used by ${count(users.length, "event")} `,
      users.slice(0, 12).map((event) => [element("button", { class: "link mono", type: "button", onclick: () => go({ view: "frame", event: event.number, tab: "shaders" }) }, `E${event.number}`), " "])), listing(shader.text, text)));
}

function texturesSheet() {
  if (!model.textures.length) return sheet("Textures", "No event of this page reads a texture.");
  return sheet("Textures", `${count(model.textures.length, "texture")} as the events read them; equal contents once.`, element("div", { class: "cards" }, model.textures.map((each) => card(each, ""))));
}

// A matrix of passes and resources: what each pass reads and writes.
function passesSheet(go) {
  const { passes, resources, more } = model.graph;
  const cell = (row, handle) => {
    const [read, write] = ["reads", "writes"].map((way) => row[way].find(([at]) => at === handle)?.[1]);
    if (read === undefined && write === undefined) return "";
    const words = [read === undefined ? null : `reads ${read}`, write === undefined ? null : `writes ${write}`].filter(Boolean).join("; ");
    return element("span", { class: `use ${read === undefined ? "write" : write === undefined ? "read" : "both"}`, role: "img", "aria-label": words, title: words });
  };
  const link = (row) => element("button", { class: "link mono", type: "button", onclick: () => go({ view: "frame", event: row.last }) }, row.first === row.last ? `E${row.first}` : `E${row.first} – E${row.last}`);
  if (resources.length > 40) return passesList(go, link);
  const key = [["read", "read"], ["write", "written"], ["both", "read and written"]].map(([kind, title]) => element("span", { class: "key" }, element("span", { class: `use ${kind}`, "aria-hidden": "true" }), title));
  return sheet("Passes", `A pass is a run of events that write the same resources. ${grouped(passes.length)} passes, ${grouped(resources.length)} resources.`, element("p", {}, key),
    element("div", { class: "box matrix" }, table("Passes and resources", [["Events", ""], ["Frame", "num"], ["What", ""], ...resources.map((each) => [each.name.split(",")[0], "slot"])],
      passes.map((row) => [link(row), row.frame, row.kinds, ...resources.map((each) => cell(row, each.handle))]))), more ? element("p", { class: "quiet" }, `${grouped(more)} more: `, command(`dp2emu graph ${model.file} -o passes.dot`)) : null);
}

// The same as lists, for more resources than a matrix shows.
function passesList(go, link) {
  const names = new Map(model.graph.resources.map((each) => [each.handle, each.name.split(",")[0]]));
  const listed = (uses) => uses.slice(0, 12).map(([handle, use]) => `${names.get(handle) ?? handle} (${use})`).join(", ") + (uses.length > 12 ? ` and ${uses.length - 12} more` : "");
  return sheet("Passes", `A pass is a run of events that write the same resources. ${grouped(model.graph.passes.length)} passes, ${grouped(names.size)} resources.`, element("div", { class: "box matrix lists" },
    table("Passes and resources", [["Events", ""], ["Frame", "num"], ["What", ""], ["Reads", ""], ["Writes", ""]], model.graph.passes.map((row) => [link(row), row.frame, row.kinds, listed(row.reads), listed(row.writes)]))),
    model.graph.more ? element("p", { class: "quiet" }, `${grouped(model.graph.more)} more: `, command(`dp2emu graph ${model.file} -o passes.dot`)) : null);
}

function statisticsSheet(go) {
  const tiles = model.statistics.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, typeof value === "number" ? grouped(value) : value)));
  const used = model.counters.names.map((name, at) => [name, at]).filter(([, at]) => events.some((event) => event.counters?.[at]));
  const rows = events.filter((event) => event.counters?.some(Boolean)).map((event) => [event.number, event.name, ...used.map(([, at]) => event.counters[at])]);
  const most = used.map((_, at) => Math.max(1, ...rows.map((row) => row[at + 2])));
  const cells = (row) => [element("button", { class: "link mono", type: "button", onclick: () => go({ view: "frame", event: row[0] }) }, `E${row[0]}`), row[1], ...row.slice(2).map((value, at) => {
    const bar = element("span", { class: "bars", "aria-hidden": "true" });
    bar.style.width = `${Math.round(value * 48 / most[at])}px`;
    return element("span", {}, value && at === 0 ? bar : null, value ? grouped(value) : "");
  })];
  return sheet("Statistics", null, element("dl", { class: "tiles" }, tiles), rows.length ? [element("h3", {}, "Counters of each event"),
    element("div", { class: "box" }, sortable("Counters of each event", [["Event", ""], ["What", ""], ...used.map(([name]) => [name, "num"])], rows, cells))] : null,
    model.notes.length ? [element("h3", {}, "About this page"), element("ul", {}, model.notes.map((note) => element("li", { class: "quiet" }, note)))] : null);
}

function faultsSheet(go) {
  return sheet("Faults", "Calls that the driver refused, in order.", element("div", { class: "box" }, table("Faults", [["Event", ""], ["Error", ""]], model.faults.map((row) => [
    row.event === null || row.event === undefined ? "" : element("button", { class: "link mono", type: "button", onclick: () => go({ view: "frame", event: row.event }) }, `E${row.event}`), row.text]))));
}
