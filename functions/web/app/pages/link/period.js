// Which time the page is about: what its address says, as times, and the equally long time before.

/** @typedef {'24h' | '7d' | '30d' | '12m' | 'own'} Range */
/** @typedef {'day' | 'hour'} PeriodUnit */

/**
 * @typedef {object} Period
 * @property {Range} range
 * @property {PeriodUnit} unit what the chart counts by
 * @property {number} before when the period before begins; all times are milliseconds since 1970
 * @property {number} from
 * @property {number} to when it is over
 * @property {string} name such as `30 days`
 */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The API answers with so many days at once. */
export const MOST_DAYS = 396;
/** Beyond, hours would be narrower than a pixel. */
const MOST_DAYS_BY_HOUR = 31;
const DEFAULT_RANGE = '30d';

/** @type {Record<'7d' | '30d' | '12m', { days: number, name: string }>} */
const LENGTHS = { '7d': { days: 7, name: '7 days' }, '30d': { days: 30, name: '30 days' }, '12m': { days: 365, name: '12 months' } };

const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** The UTC day of a time, as the API names it. @param {number} time */
export const dayOf = (time) => new Date(time).toISOString().slice(0, 10);

/**
 * @param {URLSearchParams} query
 * @param {number} now
 * @returns {Period}
 */
export function periodOf(query, now) {
  const range = query.get('range') ?? DEFAULT_RANGE;
  if (range === '24h') {
    const to = Math.floor(now / HOUR_MS) * HOUR_MS + HOUR_MS;
    return { range, unit: 'hour', before: to - 2 * DAY_MS, from: to - DAY_MS, to, name: '24 hours' };
  }
  if (range === 'own') return ownPeriod(query, now) ?? periodOf(new URLSearchParams(), now);
  if (range !== '7d' && range !== '30d' && range !== '12m') return periodOf(new URLSearchParams(query.has('unit') ? { unit: String(query.get('unit')) } : {}), now);
  const { days, name } = LENGTHS[range];
  const to = startOfDay(now) + DAY_MS;
  return { range, unit: unitOf(query, days), before: to - 2 * days * DAY_MS, from: to - days * DAY_MS, to, name };
}

/** @param {URLSearchParams} query @param {number} now @returns {Period | undefined} */
function ownPeriod(query, now) {
  const [from, last] = ['from', 'to'].map((name) => Date.parse(`${query.get(name)}T00:00:00Z`));
  const to = Math.min(last, startOfDay(now)) + DAY_MS;
  const days = (to - from) / DAY_MS;
  // A date that isn't one makes this false as well.
  if (!(days >= 1 && days <= MOST_DAYS)) return undefined;
  const name = days === 1 ? dayFormat.format(from) : dayFormat.formatRange(from, to - 1);
  return { range: 'own', unit: unitOf(query, days), before: from - days * DAY_MS, from, to, name };
}

/** @param {number} time */
const startOfDay = (time) => Math.floor(time / DAY_MS) * DAY_MS;

/** @param {URLSearchParams} query @param {number} days @returns {PeriodUnit} */
const unitOf = (query, days) => (query.get('unit') === 'hour' && days <= MOST_DAYS_BY_HOUR ? 'hour' : 'day');

/** Which units make sense for it. @param {Period} period @returns {PeriodUnit[]} */
export function unitsOf({ range, from, to }) {
  if (range === '24h') return ['hour'];
  return to - from > MOST_DAYS_BY_HOUR * DAY_MS ? ['day'] : ['day', 'hour'];
}

/** When the days or hours of a time begin. @param {number} from @param {number} to @param {PeriodUnit} unit */
export function startsOf(from, to, unit) {
  const step = unit === 'day' ? DAY_MS : HOUR_MS;
  return Array.from({ length: Math.round((to - from) / step) }, (_, index) => from + index * step);
}
