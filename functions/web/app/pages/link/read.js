// What the page reads of the API.

import { call } from '../../core/api.js';
import { periodOf, queryOf, readAnswer } from '../../parts/times/times.js';
import { fits, isTold } from './matching.js';

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

/**
 * What was read of single clicks.
 * @typedef {object} Latest
 * @property {Click[]} all the latest of the link, whatever the view asks
 * @property {Click[]} [found] what the API has found of the view, where those don't have enough of it
 * @property {number} foundAt when it was asked for that
 * @property {Click[]} clicks those of the view
 */

/** What only the API can tell is asked so often at most, since that reads many clicks. */
const FIND_EVERY_MS = 30_000;

/** @param {View} view @param {Record<string, unknown>} query @returns {Promise<Click[]>} */
const readClicks = async ({ code }, query) => (await call('GET /api/stats/{code}/clicks', { path: { code }, query })).clicks;

/** @param {View} view */
const findClicks = (view) => readClicks(view, { ...queryOf(timeOf(view), view.audience, view.filter), limit: MOST_CLICKS });

/**
 * The latest clicks of a view, and afterwards those that have come since.
 * @param {View} view
 * @param {Latest | undefined} known
 * @returns {Promise<Latest>} the same clicks, if there are no others
 */
export async function readLatest(view, known) {
  const period = timeOf(view);
  const few = known && (await readClicks(view, { limit: FEW_CLICKS }));
  const all = (known && few && withNews(known.all, few)) ?? (await readClicks(view, { limit: MOST_CLICKS }));
  const hasNews = all !== known?.all;
  if (known && !hasNews) return known;
  const told = isTold(view.filter) ? all.filter((click) => fits(click, view, period)) : [];
  // Without these, there are no others.
  const isEnough = all.length < MOST_CLICKS || told.length >= FEW_CLICKS;
  let { found, foundAt } = known ?? { found: undefined, foundAt: 0 };
  const isStale = !found || (!isTold(view.filter) && Date.now() - foundAt > FIND_EVERY_MS);
  if (isStale && !(isEnough && isTold(view.filter))) [found, foundAt] = [await findClicks(view), Date.now()];
  const clicks = joinedClicks(told, found ?? []);
  return { all, found, foundAt, clicks: known && isSame(known.clicks, clicks) ? known.clicks : clicks };
}

/** Newest first, and each of them once. @param {Click[]} some @param {Click[]} others */
function joinedClicks(some, others) {
  const known = new Set(some.map(({ id }) => id));
  const all = [...some, ...others.filter(({ id }) => !known.has(id))];
  return all.sort((one, other) => Date.parse(other.clicked_at) - Date.parse(one.clicked_at)).slice(0, MOST_CLICKS);
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
