// The tags of a link after a change, and after that change is taken back.

/** @typedef {{ add: string[], remove: string[] }} TagChange */

/** @param {string[]} tags */
const folded = (tags) => new Set(tags.map((tag) => tag.toLowerCase()));

/** Those that others don't have, in whatever case. @param {string[]} tags @param {string[]} others */
function without(tags, others) {
  const known = folded(others);
  return tags.filter((tag) => !known.has(tag.toLowerCase()));
}

/** @param {string[]} tags @param {TagChange} change */
export function retagged(tags, { add, remove }) {
  const kept = without(tags, remove);
  return [...kept, ...without(add, kept)];
}

/**
 * The tags before a change. If somebody else has changed them since, what they did stays.
 * @param {string[]} now @param {string[]} before @param {string[]} after
 */
export function tagsBack(now, before, after) {
  if (now.join('\n') === after.join('\n')) return before;
  return retagged(now, { add: without(before, after), remove: without(after, before) });
}
