// The modules of a QR code, as the API draws them.

import { call } from '../../core/api.js';

/** @typedef {{ side: number, isDark: (x: number, y: number) => boolean }} Matrix without a margin */
/** How much of a code may be hidden or damaged. @typedef {'M' | 'H'} Level */

/** @param {string} code @param {Level} level @param {AbortSignal} [signal] @returns {Promise<Matrix>} */
export async function readMatrix(code, level, signal) {
  return matrixIn(await call('GET /{code}/qr', { path: { code }, query: { margin: 0, level }, anonymous: true, asText: true, signal }));
}

/** What a document of the API shows: each run of dark modules is `M<x> <y>h<length>v1h-<length>z`. @param {string} svg @returns {Matrix} */
export function matrixIn(svg) {
  const side = Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1]);
  const dark = new Set();
  for (const [, x, y, length] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1/g)) {
    for (let at = 0; at < Number(length); at += 1) dark.add(Number(y) * side + Number(x) + at);
  }
  return { side, isDark: (x, y) => x >= 0 && x < side && dark.has(y * side + x) };
}
