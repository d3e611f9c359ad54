// Which links are listed: what the address says, and what the API wants for it.

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

export const SORTS = [
  { value: 'newest', label: 'Newest first' },
  { value: 'oldest', label: 'Oldest first' },
  { value: 'clicks', label: 'Most clicks' },
  { value: 'last_click', label: 'Last click' },
];

/** Whether the order needs the clicks of all links, so that the API has numbered pages of it and no cursor. @param {Filter} filter */
export const isByClicks = ({ sort }) => sort === 'clicks' || sort === 'last_click';

export const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Switched off' },
  { value: 'expired', label: 'Expired' },
  { value: 'deleted', label: 'Deleted' },
];

/** @param {URLSearchParams} query @returns {Filter} */
export function filterOf(query) {
  return {
    q: query.get('q') ?? '',
    status: STATUSES.find(({ value }) => value === query.get('status'))?.value ?? '',
    archived: /** @type {any} */ (['true', 'all'].find((value) => value === query.get('archived')) ?? ''),
    tags: query.getAll('tag'),
    isAny: query.get('tags') === 'any',
    not: query.getAll('not'),
    by: query.get('by') ?? '',
    from: dayOf(query.get('from')),
    to: dayOf(query.get('to')),
    sort: /** @type {any} */ (SORTS.find(({ value }) => value === query.get('sort'))?.value ?? 'newest'),
  };
}

/** @param {string | null} text */
const dayOf = (text) => (text && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : '');

/** What the API is asked for. @param {Filter} filter */
export function requestOf(filter) {
  const { q, status, archived, tags, isAny, not, by, from, to, sort } = filter;
  return {
    search: q,
    status,
    archived,
    tag: [...(isAny && tags.length ? [tags.map(tagTerm).join()] : tags.map(tagTerm)), ...not.map((tag) => `-${tagTerm(tag)}`)],
    created_by: by,
    created_after: startOf(from),
    created_before: endOf(to),
    sort: isByClicks(filter) ? sort : 'created_at',
    order: sort === 'oldest' ? 'asc' : 'desc',
  };
}

/** A tag as the API takes it, where commas separate tags and `-` excludes them. @param {string} tag */
const tagTerm = (tag) => tag.replace(/[\\,]/g, '\\$&').replace(/^-/, '\\-');

// Days are the visitor's, so they are given as moments.
/** @param {string} day */
const startOf = (day) => (day ? new Date(`${day}T00:00:00`).toISOString() : '');
/** @param {string} day */
const endOf = (day) => (day ? new Date(`${day}T23:59:59.999`).toISOString() : '');

/** Whether all links are meant. @param {Filter} filter */
export const isEverything = ({ isAny, sort, ...conditions }) => Object.values(conditions).every(({ length }) => length === 0);

/** The query that takes all filters away. */
export const NO_FILTER = { q: '', status: '', archived: '', tag: [], tags: '', not: [], by: '', from: '', to: '' };

/**
 * The query in which links have a tag, or don't have it, or may have it.
 * @param {Filter} filter
 * @param {string} tag
 * @param {'with' | 'without' | 'either'} wanted
 */
export function withTag({ tags, not }, tag, wanted) {
  const others = (/** @type {string[]} */ list) => list.filter((other) => other.toLowerCase() !== tag.toLowerCase());
  const given = (/** @type {boolean} */ isGiven) => (isGiven ? [tag] : []);
  return { tag: [...others(tags), ...given(wanted === 'with')], not: [...others(not), ...given(wanted === 'without')] };
}
