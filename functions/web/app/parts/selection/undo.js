// What takes a change of many links back, as far as it was one.

import { folded } from '../../core/folding.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {{ add: string[], remove: string[] }} TagChange */
/** @typedef {{ links: Link[], bodyOf: (links: Link[]) => object }} Step links that a body of `PATCH /api/links/bulk` is the same for, but for their codes and values */

/** @param {Link[]} links */
export const codesOf = (links) => links.map(({ short_code }) => short_code);

/**
 * The same for all.
 * @param {Link[]} links @param {object} change
 * @returns {Step}
 */
export const sameFor = (links, change) => ({ links, bodyOf: (some) => ({ codes: codesOf(some), ...change }) });

/**
 * Each link gets back the member's value that it had.
 * @param {Link[]} before
 * @param {'archived' | 'is_active' | 'expires_at'} name
 * @param {unknown} value what it is now
 * @returns {Step[]}
 */
export function valueBack(before, name, value) {
  const changed = before.filter((link) => link[name] !== value);
  return changed.length === 0 ? [] : [{ links: changed, bodyOf: (some) => ({ links: some.map((link) => ({ code: link.short_code, [name]: link[name] })) }) }];
}

/**
 * Each link loses the tags that it lacked, and gets back those that it had. What others have done to its tags since stays.
 * @param {Link[]} before
 * @param {TagChange} change
 * @returns {Step[]}
 */
export function tagsBack(before, { add, remove }) {
  /** @type {Map<string, { change: object, links: Link[] }>} */
  const groups = new Map();
  for (const link of before) {
    const change = tagsOf(within(link.tags, remove), without(add, link.tags));
    const key = JSON.stringify(change);
    if (key === '{}') continue;
    const group = groups.get(key) ?? { change, links: [] };
    group.links.push(link);
    groups.set(key, group);
  }
  return [...groups.values()].map((group) => sameFor(group.links, group.change));
}

/** @param {string[]} add @param {string[]} remove */
export const tagsOf = (add, remove) => ({ ...(add.length > 0 && { add_tags: add }), ...(remove.length > 0 && { remove_tags: remove }) });

/** Those that others have, too, in whatever spelling. @param {string[]} tags @param {string[]} others */
function within(tags, others) {
  const known = new Set(others.map(folded));
  return tags.filter((tag) => known.has(folded(tag)));
}

/** Those that others don't have. @param {string[]} tags @param {string[]} others */
function without(tags, others) {
  const known = new Set(others.map(folded));
  return tags.filter((tag) => !known.has(folded(tag)));
}
