// Which links are listed: what the address says, and what the API wants for it.

import { beginningOf, dayIn, endOf } from '../../core/days.js';
import { mayAct, session } from '../../core/session.js';

/**
 * @typedef {object} Filter
 * @property {string} q
 * @property {string} status
 * @property {'' | 'true' | 'all'} archived whether archived links are listed: alone, or with the others
 * @property {string[]} tags those that links have
 * @property {boolean} isAny whether one of these is enough
 * @property {string[]} not the tags that links don't have
 * @property {string} by who created them
 * @property {string} from a date
 * @property {string} to
 * @property {'newest' | 'oldest' | 'clicks' | 'last_click'} sort
 */

/** Whether the order needs the clicks of all links, so that the API has numbered pages of it and no cursor. @param {Filter} filter */
export const isByClicks = ({ sort }) => sort === 'clicks' || sort === 'last_click';

const STATUSES = ['active', 'inactive', 'scheduled', 'exhausted', 'expired', 'suspended', 'deleted'];
const SORTS = ['newest', 'oldest', 'clicks', 'last_click'];
const ARCHIVED = ['true', 'all'];

/** @param {URLSearchParams} query @returns {Filter} */
export function filterOf(query) {
  return {
    q: query.get('q') ?? '',
    status: oneOf(STATUSES, query.get('status')),
    archived: /** @type {any} */ (oneOf(ARCHIVED, query.get('archived'))),
    tags: query.getAll('tag'),
    isAny: query.get('tags') === 'any',
    not: query.getAll('not'),
    by: query.get('by') ?? '',
    from: dayIn(query.get('from')),
    to: dayIn(query.get('to')),
    sort: /** @type {any} */ (oneOf(SORTS, query.get('sort')) || 'newest'),
  };
}

/** @param {string[]} known @param {string | null} text */
const oneOf = (known, text) => (text !== null && known.includes(text) ? text : '');

/** What the API is asked for. @param {Filter} filter */
export function requestOf(filter) {
  const { q, status, archived, tags, isAny, not, by, from, to, sort } = filter;
  return {
    search: q,
    status,
    archived,
    tag: [...(isAny && tags.length ? [tags.map(tagTerm).join()] : tags.map(tagTerm)), ...not.map((tag) => `-${tagTerm(tag)}`)],
    created_by: by,
    created_after: beginningOf(from),
    created_before: endOf(to),
    sort: isByClicks(filter) ? sort : 'created_at',
    order: sort === 'oldest' ? 'asc' : 'desc',
  };
}

/** A tag as the API takes it, where commas separate tags and `-` excludes them. @param {string} tag */
const tagTerm = (tag) => tag.replace(/[\\,]/g, '\\$&').replace(/^-/, '\\-');

/** Whether all links are meant. @param {Filter} filter */
export const isEverything = ({ isAny, sort, ...conditions }) => Object.values(conditions).every(({ length }) => length === 0);

/** Whether somebody may change links that match, without having seen them. @param {Filter} filter */
export const mayChangeMatching = ({ by }) => mayAct('admin') || (mayAct('member') && ['', session.get().me?.user_id].includes(by));
