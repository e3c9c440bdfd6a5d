/**
 * A canvas that is as sharp as the screen and is drawn when there is something new, once a frame at most.
 *
 * Refuses to know what is drawn.
 */

export class SharpCanvas {
  #canvas;
  #draw;
  #asked = false;
  size = { width: 0, height: 0 };

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {(context: CanvasRenderingContext2D, size: {width: number, height: number}) => boolean} draw in CSS
   *   pixels; says whether it is to be called again at the next frame
   */
  constructor(canvas, draw) {
    this.#canvas = canvas;
    this.#draw = draw;
    new ResizeObserver(() => this.ask()).observe(canvas);
  }

  /** There is something new. */
  ask() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => this.#frame());
  }

  #frame() {
    this.#asked = false;
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    if (width === 0 || height === 0) return; // it is not shown; when it is, it changes its size
    this.size = { width, height };
    const density = devicePixelRatio;
    const [columns, rows] = [Math.round(width * density), Math.round(height * density)];
    if (this.#canvas.width !== columns) this.#canvas.width = columns;
    if (this.#canvas.height !== rows) this.#canvas.height = rows;
    const context = this.#canvas.getContext("2d");
    context.setTransform(columns / width, 0, 0, rows / height, 0, 0);
    if (this.#draw(context, this.size)) this.ask();
  }
}
