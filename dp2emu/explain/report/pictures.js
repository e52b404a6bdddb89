// Pictures: deflated bytes, each the difference from the picture before it within a box.

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Adds differences to `image`: each byte is the difference from its left neighbour's difference.
function patch(image, width, channels, box, bytes) {
  const [left, top, wide, high] = box;
  let from = 0;
  for (let y = 0; y < high; y++) {
    let to = ((top + y) * width + left) * channels;
    const begin = from;
    for (let x = 0; x < wide * channels; x++, to++, from++) {
      if (from - begin >= channels) bytes[from] += bytes[from - channels];
      image[to] += bytes[from];
    }
  }
}

class Series {
  constructor(row) {
    Object.assign(this, row);
    this.cache = new Map();
    this.name = `${model.surfaces[row.surface]?.label ?? `surface ${row.surface}`}${row.shows === "color" ? "" : ` · ${row.shows}`}`;
  }

  get key() { return `${this.surface}/${this.shows}`; }

  // Number of the last picture at or before an event, -1 if there is none.
  at(event) {
    let low = 0, high = this.pictures.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.pictures[middle].event <= event) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  // Number of the picture that an event made, -1 for none; the first picture was there before.
  changedBy(event) {
    const at = this.at(event);
    return at > 0 && this.pictures[at].event === event ? at : -1;
  }

  // Bytes of picture number `at`, from the nearest picture that is known or whole.
  async image(at) {
    if (at < 0) return new Uint8Array(this.width * this.height * this.channels);
    if (this.cache.has(at)) return this.cache.get(at);
    let first = at;
    while (first > 0 && !this.pictures[first].whole && !this.cache.has(first - 1)) first--;
    const base = this.pictures[first].whole || first === 0 ? null : this.cache.get(first - 1);
    const image = base ? base.slice() : new Uint8Array(this.width * this.height * this.channels);
    const pieces = await Promise.all(this.pictures.slice(first, at + 1).map((each) => inflated(model.blobs[each.data])));
    pieces.forEach((bytes, index) => patch(image, this.width, this.channels, this.pictures[first + index].box, bytes));
    this.cache.set(at, image);
    if (this.cache.size > 12) this.cache.delete(this.cache.keys().next().value);
    return image;
  }

  // Calls `seen(number, bytes)` for each wanted picture, in order, decoding each once; ends when `wanted()` is false.
  async walk(numbers, seen, wanted) {
    if (!numbers.length) return;
    let at = numbers[0];
    while (at > 0 && !this.pictures[at].whole) at--;
    const image = new Uint8Array(this.width * this.height * this.channels), asked = new Set(numbers);
    for (; at <= numbers[numbers.length - 1]; at++) {
      const { whole, box, data } = this.pictures[at];
      if (whole) image.fill(0);
      patch(image, this.width, this.channels, box, await inflated(model.blobs[data]));
      if (!wanted()) return;
      if (asked.has(at)) seen(at, image);
    }
  }
}

const series = model.series.map((row) => new Series(row));

// A picture that stands alone, such as a texture or a reference.
const alone = new WeakMap();
async function single(row) {
  if (!alone.has(row)) {
    alone.set(row, inflated(row.data).then((bytes) => {
      const image = new Uint8Array(row.width * row.height * row.channels);
      patch(image, row.width, row.channels, [0, 0, row.width, row.height], bytes);
      return image;
    }));
  }
  return alone.get(row);
}

// Samples of a pixel as numbers: depth of 16 bits is one number of two bytes.
function sample(image, width, channels, x, y) {
  const at = (y * width + x) * channels;
  if (channels === 2) return [image[at] * 256 + image[at + 1]];
  return Array.from(image.subarray(at, at + channels));
}

const MODES = [["rgb", "Colour"], ["rgba", "Colour with alpha"], ["r", "Red"], ["g", "Green"], ["b", "Blue"], ["a", "Alpha"]];
const GREYS = [["range", "Range fitted"], ["rgb", "0 to 1"]];

// Paints bytes to a canvas as a mode says.
function paint(canvas, image, width, height, channels, mode = "rgb") {
  canvas.width = width;
  canvas.height = height;
  const out = new ImageData(width, height), to = out.data, pixels = width * height;
  if (channels <= 2) paintGrey(to, image, pixels, channels, mode);
  else {
    const only = { r: 0, g: 1, b: 2, a: 3 }[mode];
    for (let i = 0, from = 0, at = 0; i < pixels; i++, from += channels, at += 4) {
      const alpha = channels === 4 ? image[from + 3] : 255;
      if (only !== undefined) to[at] = to[at + 1] = to[at + 2] = only === 3 ? alpha : image[from + only];
      else { to[at] = image[from]; to[at + 1] = image[from + 1]; to[at + 2] = image[from + 2]; }
      to[at + 3] = mode === "rgba" ? alpha : 255;
    }
  }
  canvas.getContext("2d").putImageData(out, 0, 0);
}

function paintGrey(to, image, pixels, channels, mode) {
  const value = channels === 2 ? (i) => image[2 * i] * 256 + image[2 * i + 1] : (i) => image[i];
  const most = channels === 2 ? 65535 : 255;
  let low = most, high = 0;
  if (mode === "range") {
    for (let i = 0; i < pixels; i++) {
      const v = value(i);
      if (v < low) low = v;
      if (v > high && v < most) high = v;
    }
  }
  if (mode !== "range" || high <= low) { low = 0; high = most; }
  for (let i = 0; i < pixels; i++) {
    const grey = Math.max(0, Math.min(255, Math.round((value(i) - low) * 255 / (high - low))));
    to[4 * i] = to[4 * i + 1] = to[4 * i + 2] = grey;
    to[4 * i + 3] = 255;
  }
}

// A canvas for a small picture at most `tall` pixels high, and its painting.
function small(width, height, tall, label, enlarge = false) {
  const fit = Math.min(tall / height, (tall * 2.6) / width), scale = fit > 1 ? 1 : fit;
  const canvas = element("canvas", { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)), role: "img", "aria-label": label });
  if (enlarge && fit >= 2) canvas.style.width = `${width * Math.floor(fit)}px`;
  return canvas;
}

function paintSmall(canvas, image, width, height, channels) {
  const whole = document.createElement("canvas"), pen = canvas.getContext("2d");
  paint(whole, image, width, height, channels, channels <= 2 ? "range" : "rgb");
  pen.imageSmoothingEnabled = canvas.width < width;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(whole, 0, 0, canvas.width, canvas.height);
}

// The same of a picture that stands alone, painted when it comes into view.
const waiting = new WeakMap();
const lazily = new IntersectionObserver((seen) => {
  for (const each of seen) {
    if (!each.isIntersecting) continue;
    lazily.unobserve(each.target);
    waiting.get(each.target)();
  }
}, { rootMargin: "200px" });

function thumbnail(row, tall, label) {
  const canvas = small(row.width, row.height, tall, label, true);
  waiting.set(canvas, async () => paintSmall(canvas, await single(row), row.width, row.height, row.channels));
  lazily.observe(canvas);
  return canvas;
}
