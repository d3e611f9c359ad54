import { percent } from '../../core/format.js';

/** Of which links numbers are, if they aren't of all. @param {import('../../core/lists.js').CoveredLinks | null} covers */
export function wordsOfCovers(covers) {
  if (!covers || covers.of === 0) return '';
  // Rounded, nearly all would be all.
  return `Based on the most clicked links, with ${percent(Math.floor((1000 * covers.clicks) / covers.of) / 1000)} of all clicks.`;
}
