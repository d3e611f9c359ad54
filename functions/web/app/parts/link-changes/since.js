// Numbers of links and tags after what was done here since the API has counted them, which is once a minute.

import { folded } from '../../core/folding.js';

/** @typedef {import('../../core/lists.js').LinkChange} LinkChange */
/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {import('../../core/lists.js').TagCount} TagCount */
/** @typedef {import('../../core/lists.js').Overview} Overview */

/** What was there before with a minus, and what has come instead. @param {LinkChange[]} changes @param {string} asOf @returns {{ link: import('../../core/lists.js').CountedLink, by: 1 | -1 }[]} */
const differences = (changes, asOf) =>
  changes
    .filter(({ at }) => Date.parse(at) > Date.parse(asOf))
    .flatMap(({ before, after }) => [...(before ? [{ link: before, by: /** @type {const} */ (-1) }] : []), ...(after ? [{ link: after, by: /** @type {const} */ (1) }] : [])]);

/**
 * @param {TagCount[]} tags the most used first
 * @param {string} asOf when they were counted
 * @param {LinkChange[]} changes
 * @returns {TagCount[]}
 */
export function tagsSince(tags, asOf, changes) {
  const found = differences(changes, asOf).filter(({ link }) => !link.archived && link.status !== 'deleted' && link.tags.length > 0);
  if (found.length === 0) return tags;
  const counts = new Map(tags.map((one) => [folded(one.tag), { ...one }]));
  for (const { link, by } of found) {
    for (const tag of link.tags) {
      const count = counts.get(folded(tag)) ?? { tag, links: 0, total_clicks: 0 };
      counts.set(folded(tag), count);
      count.links += by;
      count.total_clicks = Math.max(0, count.total_clicks + by * (link.total_clicks ?? 0));
    }
  }
  return [...counts.values()].filter(({ links }) => links > 0).sort((a, b) => b.links - a.links || (a.tag < b.tag ? -1 : 1));
}

/**
 * @param {Overview} overview
 * @param {string} tag of the links that it is about, or empty for all
 * @param {LinkChange[]} changes
 * @returns {Overview}
 */
export function overviewSince(overview, tag, changes) {
  const isMeant = (/** @type {{ tags: string[] }} */ { tags }) => !tag || tags.some((one) => folded(one) === folded(tag));
  const found = differences(changes, overview.as_of).filter(({ link }) => isMeant(link));
  if (found.length === 0) return overview;
  const links = { ...overview.links };
  for (const { link, by } of found) {
    const name = link.archived ? 'archived' : link.status;
    links[name] = Math.max(0, (links[name] ?? 0) + by);
    if (!link.archived) links.total = Math.max(0, links.total + by);
  }
  return { ...overview, links };
}
