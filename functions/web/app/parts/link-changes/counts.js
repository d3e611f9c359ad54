// How many links there are, and of which tags: as the API counts them once in a while, and at once what was done here.

import { call, readAll } from '../../core/api.js';
import { folded } from '../../core/folding.js';
import { changesHere } from '../../core/lists.js';
import { useResource } from '../../core/resource.js';
import { session } from '../../core/session.js';
import { overviewSince, tagsSince } from './since.js';

/** @typedef {import('../../core/lists.js').TagCount} TagCount */
/** @typedef {import('../../core/lists.js').Overview} Overview */
/** @typedef {{ as_of: string, tags: TagCount[], total: number, incomplete: string[] }} TagList */

/**
 * The tags that links have, the most used first.
 * @param {{ isWanted?: boolean, everyMs?: number }} [options]
 * @returns {import('../../core/resource.js').Resource<TagList>}
 */
export function useTagList({ isWanted = true, ...options } = {}) {
  const resource = useResource(isWanted ? 'tags' : null, () => readAll('tags', 'GET /api/tags'), options);
  const { data } = resource;
  if (!data) return resource;
  const tags = tagsSince(data.tags, data.as_of, changesHere());
  return { ...resource, data: tags === data.tags ? data : { ...data, tags, total: data.total + tags.length - data.tags.length } };
}

/** @param {{ isWanted?: boolean }} [options] @returns {TagCount[]} */
export const useTags = (options) => useTagList(options).data?.tags ?? [];

/** Tags that were given here, also by jobs, which take their time. @type {{ visit: number, tags: Set<string> }} */
const given = { visit: 0, tags: new Set() };

/** @param {string[]} tags */
export function rememberTags(tags) {
  const { visit } = session.get();
  if (given.visit !== visit) given.tags.clear();
  given.visit = visit;
  for (const tag of tags) given.tags.add(tag);
}

/** The names of all known tags, for completion. */
export function useTagNames() {
  const names = useTags().map(({ tag }) => tag);
  const known = new Set(names.map(folded));
  const others = given.visit === session.get().visit ? [...given.tags].filter((tag) => !known.has(folded(tag))) : [];
  return [...others, ...names];
}

/** What an overview is about, if not about all links and the last days. @typedef {{ tag?: string, from?: string, to?: string }} OverviewQuery */

/** @param {{ isWanted?: boolean, everyMs?: number, query?: OverviewQuery }} [options] @returns {import('../../core/resource.js').Resource<Overview>} */
export function useOverview({ isWanted = true, query = {}, ...options } = {}) {
  const { tag = '', from = '', to = '' } = query;
  const key = tag || from ? `overview:${JSON.stringify([tag, from, to])}` : 'overview';
  const resource = useResource(isWanted ? key : null, () => call('GET /api/overview', { query: { tag, from, to } }), options);
  return { ...resource, data: resource.data && overviewSince(resource.data, tag, changesHere()) };
}
