// How well something fits what is looked for.

import { searched } from '../../core/folding.js';

/** The words that are looked for. @param {string} text */
export const wordsOf = (text) => searched(text).split(/\s+/).filter(Boolean);

/**
 * What the API is asked for: all of it, and of several words the one that fewest links may have, a number or else the longest.
 * @param {string} text
 */
export function piecesOf(text) {
  const words = text.split(/\s+/).filter(Boolean);
  const rarity = (/** @type {string} */ word) => word.length + (/\d/.test(word) ? text.length : 0);
  return words.length > 1 ? [words.join(' '), words.sort((one, other) => rarity(other) - rarity(one))[0]] : [text];
}

/**
 * The smaller, the better: its name begins with what is looked for, words of its name do, its name has all words, or what else is
 * known of it has them. Infinity if a word is missing.
 * @param {string[]} words as `wordsOf` gives them
 * @param {string} name
 * @param {string} [more]
 */
export function rankOf(words, name, more = '') {
  const text = searched(name);
  if (text.startsWith(words.join(' '))) return 0;
  const parts = text.split(/[^\p{L}\p{N}]+/u);
  if (words.every((word) => parts.some((part) => part.startsWith(word)))) return 1;
  if (words.every((word) => text.includes(word))) return 2;
  const all = `${text} ${searched(more)}`;
  return words.every((word) => all.includes(word)) ? 3 : Infinity;
}

/**
 * What fits, the best first, and else in the order it has.
 * @template {{ label: string, more?: string }} T
 * @param {T[]} items
 * @param {string} text
 * @param {number} [worst] the rank of what is kept although a word is missing
 * @returns {(T & { rank: number })[]}
 */
export function ranked(items, text, worst = Infinity) {
  const words = wordsOf(text);
  return items
    .map((item) => ({ ...item, rank: Math.min(worst, rankOf(words, item.label, item.more)) }))
    .filter(({ rank }) => rank < Infinity)
    .sort((one, other) => one.rank - other.rank);
}
