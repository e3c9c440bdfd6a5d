/**
 * What hands do to the lanes: drag, pinch, wheel, point, click, press keys. Refuses to know what it moves.
 */

const CLICK_PX = 4; // less is no drag

export class Hand {
  #canvas;
  #on;
  #pointers = new Map();
  #moved = 0;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {object} on drag(px), zoom(factor, x), hover({x, y} | null), click(x), key(name) -> whether it was
   *   one of theirs
   */
  constructor(canvas, on) {
    this.#canvas = canvas;
    this.#on = on;
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", (event) => this.#pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => on.hover(null));
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  #down(event) {
    this.#canvas.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, event.offsetX);
    this.#moved = 0;
  }

  #move(event) {
    const { pointerId, offsetX, offsetY } = event;
    this.#on.hover({ x: offsetX, y: offsetY });
    if (!this.#pointers.has(pointerId)) return;
    const before = [...this.#pointers.values()];
    const px = offsetX - this.#pointers.get(pointerId);
    this.#pointers.set(pointerId, offsetX);
    this.#moved += Math.abs(px);
    if (before.length === 1) this.#on.drag(px);
    else this.#pinch(before, [...this.#pointers.values()]);
  }

  #pinch([a, b], [c, d]) {
    const [before, after] = [Math.abs(a - b), Math.abs(c - d)].map((px) => Math.max(10, px));
    this.#on.zoom(before / after, (c + d) / 2);
  }

  #up({ pointerId, offsetX, pointerType }) {
    const wasDown = this.#pointers.delete(pointerId);
    if (wasDown && this.#moved < CLICK_PX) this.#on.click(offsetX);
    if (pointerType === "touch") this.#on.hover(null);
  }

  /** Sideways it moves, with Ctrl it zooms; up and down alone is the page's. */
  #wheel(event) {
    if (event.ctrlKey || event.metaKey) this.#on.zoom(Math.exp(event.deltaY / 200), event.offsetX);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.#on.drag(-event.deltaX);
    else return;
    event.preventDefault();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.#on.key(event.key === "=" ? "+" : event.key)) event.preventDefault();
  }
}
