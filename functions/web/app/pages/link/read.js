// What the page reads of the API.

import { call } from '../../core/api.js';
import { periodOf, queryOf, readAnswer } from '../../parts/times/times.js';

/** @typedef {import('../../parts/times/answer.js').Answer} Answer */

/**
 * Which clicks of a link are shown.
 * @typedef {object} View
 * @property {string} code
 * @property {string} since when the link was created
 * @property {URLSearchParams} query what the address says of the time, which goes on while one looks
 * @property {import('../../parts/times/audience.js').Audience} audience
 * @property {import('../../parts/times/answer.js').Filter} filter
 */

/**
 * @typedef {object} Click
 * @property {string} id
 * @property {string} clicked_at
 * @property {'human' | 'bot' | 'prefetch'} audience
 * @property {string} device
 * @property {string} browser
 * @property {string} browser_version
 * @property {string} os
 * @property {string | null} country
 * @property {string | null} city
 * @property {string | null} referer
 * @property {string} source
 * @property {string | null} campaign
 * @property {string} user_agent
 */

/** The API shows at most so many single clicks at once. */
export const MOST_CLICKS = 100;
/** So many are shown first, and read again and again. */
export const FEW_CLICKS = 20;

/** What tells views apart. @param {View} view */
export function keyOf({ code, query, audience, filter }) {
  const time = ['range', 'interval', 'from', 'to'].map((name) => query.get(name) ?? '');
  return `answer:${code}:${JSON.stringify([time, audience, filter])}`;
}

/** @param {View} view */
export const timeOf = ({ query, since }) => periodOf(query, Date.now(), since);

/**
 * An answer, and the time that it is about.
 * @param {View} view
 * @returns {Promise<Answer & { period: import('../../parts/times/period.js').Period }>}
 */
export async function readView(view) {
  const period = timeOf(view);
  return { ...(await readAnswer(view.code, period, view.audience, view.filter)), period };
}

/** @param {View} view @param {number} limit @returns {Promise<Click[]>} */
const readClicks = async (view, limit) =>
  (await call('GET /api/stats/{code}/clicks', { path: { code: view.code }, query: { ...queryOf(timeOf(view), view.audience, view.filter), limit } })).clicks;

/**
 * The latest clicks, and afterwards only those that have come since: the same list, if there are none.
 * @param {View} view
 * @param {Click[] | undefined} known
 */
export async function readLatest(view, known) {
  if (!known) return readClicks(view, MOST_CLICKS);
  const few = await readClicks(view, FEW_CLICKS);
  return withNews(known, few) ?? readClicks(view, MOST_CLICKS);
}

/**
 * @param {Click[]} known
 * @param {Click[]} few the latest of all
 * @returns {Click[] | undefined} nothing if there may be others between them
 */
export function withNews(known, few) {
  if (few.length < FEW_CLICKS) return isSame(known, few) ? known : few;
  const at = known.findIndex(({ id }) => id === few[few.length - 1].id);
  if (at < 0) return undefined;
  return isSame(known.slice(0, at + 1), few) ? known : [...few, ...known.slice(at + 1)].slice(0, MOST_CLICKS);
}

/** @param {Click[]} some @param {Click[]} others */
const isSame = (some, others) => some.length === others.length && some.every(({ id }, index) => id === others[index].id);
