// Which time a page is about: what its address says, as the API is asked for it. Days and hours are those of the visitor's zone.

/** @typedef {'24h' | '7d' | '30d' | '12m' | 'own'} Range */
/** @typedef {'day' | 'hour'} PeriodUnit */

/**
 * @typedef {object} Period
 * @property {Range} range
 * @property {PeriodUnit} unit what the chart counts by
 * @property {PeriodUnit[]} units which of them make sense
 * @property {string} from what the API is asked for: a date, or a moment
 * @property {string} to
 * @property {number} start when it begins, in milliseconds since 1970
 * @property {number} end when it is over
 * @property {boolean} isYoung whether it begins with what it is about, so that there is no time before
 * @property {string} name such as `30 days`
 */

/**
 * Whole days.
 * @typedef {object} Days
 * @property {Exclude<Range, '24h'>} range
 * @property {string} first as the API names days
 * @property {string} last
 * @property {string} name such as `30 days`
 */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The API answers with so many days at once. */
export const MOST_DAYS = 396;
/** Beyond, hours would be narrower than a pixel. */
const MOST_DAYS_BY_HOUR = 31;
/** So few days would be dots rather than a line. */
const FEW_DAYS = 2;
/** What begins just now has room to grow. */
const LEAST_HOURS = 6;
const DEFAULT_RANGE = '30d';
const YOUNG = 'since it was created';

/** @type {Record<'7d' | '30d' | '12m', { days: number, name: string }>} */
const LENGTHS = { '7d': { days: 7, name: '7 days' }, '30d': { days: 30, name: '30 days' }, '12m': { days: 365, name: '12 months' } };

// A date stands for its midnight in UTC, whichever zone it is of.
const dateFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** The day of a time by the visitor's clock, as the API names it. @param {number} time */
export function dayOf(time) {
  const date = new Date(time);
  return new Date(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate())).toISOString().slice(0, 10);
}

/** The day of a time in UTC. @param {number} time */
export const utcDayOf = (time) => new Date(time).toISOString().slice(0, 10);

/** When a day begins. @param {string} day */
const startOf = (day) => new Date(`${day}T00:00:00`).getTime();

/** @param {string} day @param {number} days */
const dayAfter = (day, days) => utcDayOf(Date.parse(day) + days * DAY_MS);

/** How many days there are, with both. @param {string} first @param {string} last */
export const daysBetween = (first, last) => (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;

/** When the hour of a time begins. @param {number} time */
const hourOf = (time) => new Date(time).setMinutes(0, 0, 0);

/**
 * @param {URLSearchParams} query
 * @param {number} now
 * @param {string} [since] when what it is about began: what is younger than the range begins with that
 * @returns {Period}
 */
export function periodOf(query, now, since) {
  const born = since === undefined ? -Infinity : Date.parse(since);
  if (query.get('range') === '24h') return lastHours(now, born);
  return periodOfDays(daysOf(query, dayOf(now)), query, now, born);
}

/**
 * The days that an address is about, if it isn't about hours.
 * @param {URLSearchParams} query
 * @param {string} today
 * @returns {Days}
 */
export function daysOf(query, today) {
  const range = query.get('range') ?? DEFAULT_RANGE;
  const own = range === 'own' && ownDays(query, today);
  if (own) return own;
  const known = range === '7d' || range === '12m' ? range : DEFAULT_RANGE;
  const { days, name } = LENGTHS[known];
  return { range: known, first: dayAfter(today, 1 - days), last: today, name };
}

/** @param {URLSearchParams} query @param {string} today @returns {Days | undefined} */
function ownDays(query, today) {
  const given = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
  if (given.some(Number.isNaN)) return undefined;
  const [first, wanted] = given.map(utcDayOf);
  const last = wanted < today ? wanted : today;
  const days = daysBetween(first, last);
  if (days < 1 || days > MOST_DAYS) return undefined;
  const name = days === 1 ? dateFormat.format(Date.parse(first)) : dateFormat.formatRange(Date.parse(first), Date.parse(last));
  return { range: 'own', first, last, name };
}

/** @param {number} now @param {number} born @returns {Period} */
function lastHours(now, born) {
  const end = hourOf(now) + HOUR_MS;
  const isYoung = born > end - DAY_MS;
  const times = isYoung ? youngHours(born, end) : { start: end - DAY_MS, end };
  return { range: '24h', unit: 'hour', units: ['hour'], isYoung, name: isYoung ? YOUNG : '24 hours', ...momentsOf(times) };
}

/**
 * @param {Days} wanted
 * @param {URLSearchParams} query
 * @param {number} now
 * @param {number} born
 * @returns {Period}
 */
function periodOfDays({ range, first: wanted, last, name: wholeName }, query, now, born) {
  const end = startOf(dayAfter(last, 1));
  const isYoung = born > startOf(wanted) && born < end;
  const first = isYoung ? dayOf(born) : wanted;
  const days = daysBetween(first, last);
  const [unit, units] = unitOf(query, days);
  const common = { range, unit, units, isYoung, name: isYoung ? YOUNG : wholeName };
  if (isYoung && unit === 'hour') return { ...common, ...momentsOf(youngHours(born, Math.min(end, hourOf(now) + HOUR_MS))) };
  return { ...common, start: startOf(first), end, from: first, to: last };
}

/** @param {number} born @param {number} end */
const youngHours = (born, end) => ({ start: hourOf(born), end: Math.max(end, hourOf(born) + LEAST_HOURS * HOUR_MS) });

/** @param {{ start: number, end: number }} times */
const momentsOf = ({ start, end }) => ({ start, end, from: new Date(start).toISOString(), to: new Date(end).toISOString() });

/** @param {URLSearchParams} query @param {number} days @returns {[PeriodUnit, PeriodUnit[]]} */
function unitOf(query, days) {
  if (days > MOST_DAYS_BY_HOUR) return ['day', ['day']];
  const wanted = query.get('interval');
  return [wanted === 'day' || wanted === 'hour' ? wanted : days <= FEW_DAYS ? 'hour' : 'day', ['day', 'hour']];
}
