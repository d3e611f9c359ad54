// Where what is, in modules.

/** @typedef {import('./matrix.js').Matrix} Matrix */

/** A logo hides at most this share of the width; the highest level of error correction bears several times as much. */
const MOST_HIDDEN = 0.22;
/** Narrower modules are blurred by whoever scales the picture. */
const LEAST_PIXELS = 3;

/** How many modules in the middle are kept free for a logo: an odd number, as the side is. @param {Matrix} matrix */
export function freeSideOf({ side }) {
  const most = Math.floor(side * MOST_HIDDEN);
  return most % 2 === 0 ? most - 1 : most;
}

/** The same modules without those in the middle. @param {Matrix} matrix @returns {Matrix} */
export function withFreeMiddle(matrix) {
  const { side, isDark } = matrix;
  const free = freeSideOf(matrix);
  const first = (side - free) / 2;
  const isFree = (/** @type {number} */ at) => at >= first && at < first + free;
  return { side, isDark: (x, y) => isDark(x, y) && !(isFree(x) && isFree(y)) };
}

/** How many pixels a module has in a picture of this size. @param {number} size @param {Matrix} matrix @param {number} margin */
export const pixelsOf = (size, { side }, margin) => Math.floor(size / (side + 2 * margin));

/** Which sizes a camera can read. @param {number[]} sizes @param {Matrix} matrix @param {number} margin */
export const readableSizes = (sizes, matrix, margin) => sizes.filter((size) => pixelsOf(size, matrix, margin) >= LEAST_PIXELS);

/** To the right, down, left, and up. */
const WAYS = [[1, 0], [0, 1], [-1, 0], [0, -1]];

/** @typedef {{ x: number, y: number, from: number, to: number }} Corner where an outline turns from one way to another */

/**
 * The outlines of what is dark, as a path of an SVG document, so that there are no seams between modules.
 * @param {Matrix} matrix
 * @param {number} margin
 * @param {boolean} isRounded
 */
export function outlineOf(matrix, margin, isRounded) {
  const radius = isRounded ? 0.5 : 0;
  return loopsOf(matrix).map((corners) => pathOf(corners, margin, radius)).join('');
}

/** @param {Matrix} matrix @returns {Corner[][]} */
function loopsOf({ side, isDark }) {
  const keyOf = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ way) => ((y * (side + 1) + x) << 2) | way;
  /** Edges with the dark module at their right, by where they begin. @type {Set<number>} */
  const edges = new Set();
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      if (!isDark(x, y)) continue;
      if (!isDark(x, y - 1)) edges.add(keyOf(x, y, 0));
      if (!isDark(x + 1, y)) edges.add(keyOf(x + 1, y, 1));
      if (!isDark(x, y + 1)) edges.add(keyOf(x + 1, y + 1, 2));
      if (!isDark(x - 1, y)) edges.add(keyOf(x, y + 1, 3));
    }
  }
  const loops = [];
  for (const start of edges) {
    /** @type {Corner[]} */
    const corners = [];
    let [at, way] = [start >> 2, start & 3];
    do {
      edges.delete((at << 2) | way);
      at += WAYS[way][0] + WAYS[way][1] * (side + 1);
      // To the right first, so that modules that only touch at a corner stay apart.
      const next = [way + 1, way, way + 3].map((one) => one & 3).find((one) => edges.has((at << 2) | one)) ?? start & 3;
      if (next !== way) corners.push({ x: at % (side + 1), y: Math.floor(at / (side + 1)), from: way, to: next });
      way = next;
    } while (edges.has((at << 2) | way));
    loops.push(corners);
  }
  return loops;
}

/** @param {Corner[]} corners @param {number} margin @param {number} radius */
function pathOf(corners, margin, radius) {
  const place = (/** @type {Corner} */ { x, y }, /** @type {number} */ way, /** @type {number} */ far) => `${x + margin + WAYS[way][0] * far} ${y + margin + WAYS[way][1] * far}`;
  if (radius === 0) return `M${corners.map((corner) => place(corner, 0, 0)).join('L')}z`;
  const turns = corners.map((corner) => {
    const isRight = corner.to === ((corner.from + 1) & 3);
    return `${place(corner, corner.from, -radius)}A${radius} ${radius} 0 0 ${isRight ? 1 : 0} ${place(corner, corner.to, radius)}`;
  });
  return `M${turns.join('L')}z`;
}
