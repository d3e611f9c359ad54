// All links that a filter finds, page by page, and the table that they make.

import { ApiError, call } from '../../core/api.js';
import { isByClicks, requestOf } from '../../pages/links/filter.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {import('../../pages/links/filter.js').Filter} Filter */
/** What was read so far: `total` is how many there are, if that is known, and `next` where it goes on. @typedef {{ links: Map<string, Link>, total: number | null, next: string | number | null, isByPage: boolean }} Reading */

const PAGE = 100;
const TOO_MANY = 429;
/** The API sorts no more by clicks. */
const UNSORTABLE = 400;

/** @param {Filter} filter @returns {Reading} */
export const begin = (filter) => ({ links: new Map(), total: null, next: 1, isByPage: isByClicks(filter) });

/**
 * Reads on until there is nothing more. What it has read stays, should it fail.
 * @param {Filter} filter
 * @param {Reading} reading
 * @param {object} options
 * @param {AbortSignal} options.signal
 * @param {(seconds?: number) => void} options.tell hears of each page, and for how long it waits
 */
export async function readOn(filter, reading, { signal, tell }) {
  while (reading.next !== null) {
    await readPage(filter, reading, signal, tell);
    signal.throwIfAborted();
    tell();
  }
  // What the API couldn't sort is sorted as far as that is possible here.
  if (!reading.isByPage && filter.sort === 'clicks') {
    reading.links = new Map([...reading.links].sort(([, one], [, other]) => (other.total_clicks ?? 0) - (one.total_clicks ?? 0)));
  }
}

/** @param {Filter} filter @param {Reading} reading @param {AbortSignal} signal @param {(seconds?: number) => void} tell */
async function readPage(filter, reading, signal, tell) {
  const { next, isByPage } = reading;
  const order = isByPage ? {} : { sort: 'created_at' };
  const place = isByPage ? { page: next } : { after: next === 1 ? undefined : next };
  try {
    const answer = await call('GET /api/links', { query: { ...requestOf(filter), ...order, ...place, per_page: PAGE }, signal });
    for (const link of answer.links) reading.links.set(link.short_code, link);
    reading.total = answer.total ?? reading.total;
    reading.next = !isByPage ? answer.next_cursor : Number(next) < (answer.total_pages ?? 0) ? Number(next) + 1 : null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isByPage && error.status === UNSORTABLE) return void Object.assign(reading, begin(filter), { isByPage: false });
    if (error.status !== TOO_MANY || !error.retryAfter) throw error;
    tell(error.retryAfter);
    await pause(error.retryAfter * 1_000, signal);
  }
}

/** @param {number} ms @param {AbortSignal} signal */
const pause = (ms, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      done(undefined);
    });
  });

/** The columns, of which bulk create reads back those that a new link can have. @type {[string, (link: Link) => string | number | boolean | null | undefined][]} */
const COLUMNS = [
  ['short_url', ({ short_url }) => short_url],
  ['short_code', ({ short_code }) => short_code],
  ['original_url', ({ original_url }) => original_url],
  ['title', ({ title }) => title],
  ['description', ({ description }) => description],
  ['tags', ({ tags }) => tags.join('|')],
  ['created_at', ({ created_at }) => created_at],
  ['expires_at', ({ expires_at }) => expires_at],
  ['valid_from', ({ valid_from }) => valid_from],
  ['status', ({ status }) => status],
  ['archived', ({ archived }) => archived],
  ['total_clicks', ({ total_clicks }) => total_clicks],
  ['max_clicks', ({ max_clicks }) => max_clicks],
  ['fallback_url', ({ fallback_url }) => fallback_url],
  ['created_by', ({ created_by }) => created_by],
  ['created_by_name', ({ created_by_name }) => created_by_name],
  ['external_id', ({ external_id }) => external_id],
];

export const LINKS_HEAD = COLUMNS.map(([name]) => name);

/** @param {Link[]} links @returns {(string | number)[][]} */
export const tableOfLinks = (links) => links.map((link) => COLUMNS.map(([, valueOf]) => cellText(valueOf(link))));

/** @param {string | number | boolean | null | undefined} value */
const cellText = (value) => (typeof value === 'number' ? value : String(value ?? ''));
