// What the page reads of the API.

import { call } from '../../core/api.js';
import { DAY_MS, dayOf, MOST_DAYS, periodOf } from './period.js';

/** @typedef {{ date: string, total_clicks: number, human_clicks: number, unique_visitors: number, desktop: number, mobile: number, tablet: number, bot: number, unknown: number, countries: { country: string, count: number }[] }} Day */
/** @typedef {{ period: string, clicks: number, people: number }} Point */

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
 * @property {string} user_agent
 */

/**
 * @typedef {object} Statistics
 * @property {number} total_clicks
 * @property {number} human_clicks
 * @property {number} unique_visitors
 * @property {{ referer: string, count: number }[]} top_referers
 * @property {{ country: string, count: number }[]} countries
 * @property {{ device: string, count: number }[]} devices
 * @property {{ browser: string, count: number }[]} browsers
 * @property {{ os: string, count: number }[]} operating_systems
 * @property {{ destination: string, count: number }[]} [destinations] where it has led, if it has rules or variants
 * @property {string | null} last_click_at
 */

/**
 * What was read for a period and the one before.
 * @typedef {object} Readings
 * @property {import('./period.js').Period} period
 * @property {Day[] | null} days none for the last 24 hours, which aren't whole days
 * @property {Point[] | null} hours
 */

/** The API shows at most so many single clicks. */
export const MOST_CLICKS = 100;
/** So many are shown first, and read again and again. */
export const FEW_CLICKS = 20;
/** And so many referrers. */
export const MOST_REFERRERS = 30;

/**
 * @param {string} code
 * @param {URLSearchParams} query
 * @returns {Promise<Readings>}
 */
export async function readPeriod(code, query) {
  const period = periodOf(query, Date.now());
  const [days, hours] = await Promise.all([
    period.range === '24h' ? null : readDays(code, period),
    period.unit === 'hour' ? readHours(code, period) : null,
  ]);
  return { period, days, hours };
}

/** @param {string} code @param {import('./period.js').Period} period @returns {Promise<Day[]>} */
async function readDays(code, { before, from, to }) {
  const spans = to - before > MOST_DAYS * DAY_MS ? [[before, from], [from, to]] : [[before, to]];
  const read = (/** @type {number[]} */ [first, end]) => call('GET /api/stats/{code}/daily', { path: { code }, query: { from: dayOf(first), to: dayOf(end - 1) } });
  return (await Promise.all(spans.map(read))).flatMap(({ days }) => days);
}

/** @param {string} code @param {import('./period.js').Period} period @returns {Promise<Point[]>} */
async function readHours(code, { before, to }) {
  const query = { interval: 'hour', from: dayOf(before), to: dayOf(to - 1) };
  return (await call('GET /api/stats/{code}/timeline', { path: { code }, query })).points;
}

/** @param {string} code @param {number} limit @returns {Promise<Click[]>} */
const readClicks = async (code, limit) => (await call('GET /api/stats/{code}/clicks', { path: { code }, query: { limit } })).clicks;

/**
 * The latest clicks, and afterwards only those that have come since: the same list, if there are none.
 * @param {string} code
 * @param {Click[] | undefined} known
 */
export async function readLatest(code, known) {
  if (!known) return readClicks(code, MOST_CLICKS);
  const few = await readClicks(code, FEW_CLICKS);
  return withNews(known, few) ?? readClicks(code, MOST_CLICKS);
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

/** @param {string} code @returns {Promise<Statistics>} */
export const readStatistics = (code) => call('GET /api/stats/{code}', { path: { code }, query: { top: MOST_REFERRERS } });
