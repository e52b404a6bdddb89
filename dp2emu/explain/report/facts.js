// What is known of the chosen event: its address, state, shaders, mesh, textures and counters.

// State before and after: the settings of a context at an event, and those that changed since the event before.
const places = {};
for (const [context, steps] of Object.entries(model.state.contexts)) places[context] = steps;

// The draw before a draw of the same context, else the event before.
function previous(event) {
  if (event.kind !== "draw") return null;
  return events.findLast((each) => each.number < event.number && each.kind === "draw" && each.context === event.context) ?? null;
}

function stateAt(event) {
  const steps = places[event.context] ?? [], now = new Map(), by = new Map(), changed = new Map(), draw = previous(event);
  const since = draw?.number ?? event.number - 1;
  for (const [number, settings] of steps) {
    if (number > event.number) break;
    for (const [path, value, setter] of settings) {
      if (number > since && !changed.has(path)) changed.set(path, now.get(path));
      if (value < 0) now.delete(path); else now.set(path, value);
      by.set(path, model.state.setters[setter]);
    }
  }
  for (const [path, value] of changed) if (value === now.get(path)) changed.delete(path);
  const fresh = event.kind === "draw" && !draw;
  return { now, by, changed, since: draw, start: fresh || (steps.length > 0 && steps[0][0] === event.number) };
}

const sdkNames = new Map(model.state.names.map(([path, value, name]) => [`${path} ${value}`, name]));
const valueOf = (at, path) => at === undefined ? "–" : shown(model.state.values[at]) + (sdkNames.has(`${path} ${at}`) ? ` ${sdkNames.get(`${path} ${at}`)}` : "");

// The call that created the object that a value names, such as "rasterizer state 14".
function creator(at) {
  const [, number] = /^[a-z ]+ (\d+)$/.exec(model.state.values[at] ?? "") ?? [];
  const call = number && model.state.created[number];
  return call ? element("span", { class: "quiet" }, ` created by ${call}`) : null;
}

class Facts {
  constructor(go) {
    this.go = go;
    this.text = "";
    this.all = false;
    this.tabs = element("div", { role: "tablist", "aria-label": "About the event" });
    this.panel = element("div", { role: "tabpanel", tabindex: "0", id: "facts" });
    this.box = element("section", { class: "facts", "aria-label": "Details" }, this.tabs, this.panel);
  }

  show(event, tab) {
    this.event = event;
    const names = [["event", "Event"], ["state", "State", this.changedNumber(event)], ["shaders", "Shaders", event.shaders.length], ["mesh", "Mesh"],
      ["textures", "Textures", event.textures.length], ["counters", "Counters"]];
    this.tab = names.some(([key]) => key === tab) ? tab : "event";
    tabs(this.tabs, names, this.tab, (key) => this.go({ tab: key }), "tab");
    this.panel.setAttribute("aria-labelledby", `tab-${this.tab}`);
    this.panel.scrollTop = 0;
    this.draw();
  }

  draw() { fill(this.panel, PANELS[this.tab](this, this.event)); }

  changedNumber(event) {
    const { changed, start } = stateAt(event);
    return start ? 0 : changed.size;
  }

  surface(at) {
    const found = model.surfaces[at];
    return found ? `${found.label}  ${found.width} × ${found.height}  ${found.format}${found.samples > 1 ? `  ${found.samples} samples` : ""}` : String(at);
  }

  aboutEvent(event) {
    const fault = faulty.get(event.number);
    const asked = model.queries.filter((each) => each.counted.some(([number]) => number === event.number) || each.began === event.number || each.ended === event.number);
    return [
      element("h2", {}, event.name),
      fault ? element("p", { class: "note" }, fault.text) : null,
      pairs([
        ["Event", code(`E${event.number}`)],
        ["Frame", code(event.frame)],
        [event.token === null ? "Call" : "Call and token", place(event) ? code(place(event)) : null],
        ["API call", event.api_call === null ? null : code(`@${event.api_call}`)],
        ["Kind", KINDS[event.kind]?.replace(/s$/, "") ?? event.kind],
        ["Time", code(`${grouped(event.time)} ticks`)],
        ["Markers", event.markers.join(" › ")],
        ["Does nothing", event.reason || null],
        ["Arguments", event.arguments.length ? event.arguments.map((line) => element("div", {}, code(line))) : null],
        ["Primitives", event.primitives ? element("span", {}, code(grouped(event.primitives)), ` ${event.topology}`) : null],
        [event.kind === "draw" ? "Samples passed" : "Texels written", event.kind === "draw" || event.pixels ? code(grouped(event.pixels)) : null],
        ["Targets", event.targets.length ? event.targets.map((at) => element("div", {}, this.surfaceLink(at))) : null],
        ["Source", event.source ? this.surfaceLink(event.source.surface) : null],
        ["Shaders", event.shaders.length ? event.shaders.map((at) => element("div", {}, this.shaderLink(at))) : null],
        ["Queries", asked.length ? asked.map((each) => element("div", {}, element("button", { class: "link", type: "button", onclick: () => this.go({ view: "queries" }) }, `${each.type} ${each.query}`),
          each.began === event.number ? " begins" : each.ended === event.number ? " ends" : ` counts ${each.counted.find(([number]) => number === event.number)[1]}`)) : null],
      ]),
      element("h3", {}, "On the command line"),
      element("div", {}, command(`dp2emu state ${model.file} --at E${event.number}`)),
      event.kind === "draw" ? element("div", {}, command(`dp2emu mesh ${model.file} E${event.number}`)) : null,
    ];
  }

  surfaceLink(at) {
    const found = series.find((each) => each.surface === at);
    const name = model.surfaces[at] ? this.surface(at) : `surface ${at}`;
    return found ? element("button", { class: "link", type: "button", onclick: () => this.go({ series: found.key }) }, name) : element("span", {}, name);
  }

  shaderLink(at) {
    const shader = model.shaders[at];
    return element("button", { class: "link", type: "button", onclick: () => this.go({ view: "shaders", shader: at }) }, `${shader.stage}  ${shader.name}`);
  }

  aboutState(event) {
    const { now, by, changed, since, start } = stateAt(event);
    if (!now.size) return [element("h2", {}, "State"), element("p", { class: "quiet" }, "This event has no device state: it is of the host.")];
    const words = this.text.toLowerCase();
    const keep = (at) => !words || model.state.paths[at].toLowerCase().includes(words) || valueOf(now.get(at), at).toLowerCase().includes(words);
    const every = this.all || words || start;
    const rows = (every ? [...now.keys()] : [...changed.keys()]).filter(keep).sort((a, b) => a - b);
    const field = element("input", { type: "search", placeholder: "Find a state or value", "aria-label": "Find a state", id: "find-state", value: this.text, autocomplete: "off" });
    field.addEventListener("input", () => { this.text = field.value; this.draw(); const again = byId("find-state"); again.focus(); again.setSelectionRange(99, 99); });
    const before = since ? [" since the previous draw ", element("button", { class: "link", type: "button", onclick: () => this.go({ event: since.number }) }, `E${since.number}`)] : [" since the event before"];
    const title = start ? `State at the first ${event.kind === "draw" ? "draw" : "event"}` : [changed.size ? count(changed.size, "change") : "No change", ...before];
    const box = element("div", { class: "filter" }, element("div", { class: "row" }, field), segment("Shown", [[false, "Changed"], [true, "All"]], this.all, (all) => { this.all = all; this.draw(); }));
    box.style.cssText = "padding:10px 0 6px;border:0";
    return [element("h2", {}, title), box, rows.length ? this.groups(rows, now, by, start ? new Map() : changed)
      : element("p", { class: "quiet" }, words ? "Nothing fits." : `Every state is as at ${since ? "that draw" : "the event before of the same context"}.`)];
  }

  groups(rows, now, by, changed) {
    const groups = new Map();
    for (const at of rows.slice(0, 1500)) {
      const [group, ...rest] = model.state.paths[at].split("\u001f");
      const key = rest.length ? group : "general";
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push([rest.length ? rest.join(" · ") : group, at]);
    }
    const columns = rows.some((at) => by.get(at)) ? [["Name", ""], ["Value", ""], ["Set by", ""]] : [["Name", ""], ["Value", ""]];
    const value = (at) => [changed.has(at)
      ? element("span", { class: "mono" }, element("del", {}, valueOf(changed.get(at), at)), " → ", element("ins", {}, valueOf(now.get(at), at)))
      : code(valueOf(now.get(at), at)), creator(now.get(at))];
    return [...groups].map(([group, list]) => [element("h3", {}, group.replaceAll("_", " ")), table(group, columns,
      list.map(([name, at]) => [code(name), value(at), element("span", { class: "quiet" }, by.get(at) ?? "")].slice(0, columns.length)))])
      .concat(rows.length > 1500 ? [[element("p", { class: "quiet" }, `${grouped(rows.length - 1500)} more: narrow the search.`)]] : []);
  }

  aboutShaders(event) {
    if (!event.shaders.length) return [element("h2", {}, "Shaders"), element("p", { class: "quiet" }, "This event runs no shader.")];
    return event.shaders.map((at) => [element("h2", {}, this.shaderLink(at)), element("p", { class: "quiet" }, model.shaders[at].about), listing(model.shaders[at].text), element("br")]);
  }

  aboutMesh(event) {
    const mesh = event.mesh === null || event.mesh === undefined ? null : model.meshes[event.mesh];
    if (!mesh) return [element("h2", {}, "Mesh"), element("p", { class: "quiet" }, event.kind === "draw" ? "The vertices of this draw are not in the page." : "Only draws have vertices."),
      event.kind === "draw" ? element("div", {}, command(`dp2emu mesh ${model.file} E${event.number}`)) : null];
    return [element("h2", {}, mesh.title), element("p", { class: "quiet" }, mesh.about),
      mesh.stages.map((stage) => [element("h3", {}, stage.name), stage.notes.map((note) => element("p", {}, note)), table(stage.name, stage.columns.map((name) => [name, "num"]), stage.rows.map((row) => row.map(shown))),
        stage.more ? element("p", { class: "quiet" }, `and ${grouped(stage.more)} more: `, command(`dp2emu mesh ${model.file} E${event.number}`)) : null])];
  }

  aboutTextures(event) {
    if (!event.textures.length) return [element("h2", {}, "Textures"), element("p", { class: "quiet" }, "No texture is bound to a stage that reads it.")];
    return [element("h2", {}, count(event.textures.length, "texture")), element("div", { class: "cards" }, event.textures.map(([stage, slot, at]) => card(model.textures[at], `${stage} ${slot}`)))];
  }

  aboutCounters(event) {
    const rows = model.counters.names.map((name, at) => [name, event.counters?.[at] ?? 0]).filter(([, value]) => value);
    return [element("h2", {}, "Counters of this event"), rows.length ? table("Counters", [["Counter", ""], ["Number", "num"]], rows.map(([name, value]) => [name, grouped(value)]))
      : element("p", { class: "quiet" }, "This event moved no counter.")];
  }
}

const PANELS = { event: (facts, event) => facts.aboutEvent(event), state: (facts, event) => facts.aboutState(event), shaders: (facts, event) => facts.aboutShaders(event),
  mesh: (facts, event) => facts.aboutMesh(event), textures: (facts, event) => facts.aboutTextures(event), counters: (facts, event) => facts.aboutCounters(event) };

function card(texture, title) {
  const image = texture.picture;
  const shownPart = image ? thumbnail(image, 130, `Texture ${texture.label}`) : element("span", { class: "quiet" }, "no picture");
  return element("figure", { class: "card" }, element("div", { class: "easel checker" }, shownPart),
    element("figcaption", {}, element("b", {}, title ? `${title}  ` : ""), texture.label, element("div", { class: "quiet mono" }, `${texture.width} × ${texture.height}${texture.levels > 1 ? `, ${texture.levels} levels` : ""}`),
      element("div", { class: "quiet mono" }, texture.format)));
}
