// Which time a page is about: what its address says, as the API is asked for it. Days and hours are those of the visitor's zone.

import { DAY_MS, dayAfter, daysBefore, lastDays, MOST_DAYS, presetDays } from './presets.js';

export { DAY_MS, MOST_DAYS } from './presets.js';

/** @typedef {'24h' | '7d' | '30d' | '12m' | 'own' | import('./presets.js').Preset} Range */
/** What the API counts by. @typedef {'day' | 'hour'} Interval */
/** What a chart counts by: weeks and months are sums of days. @typedef {Interval | 'week' | 'month'} PeriodUnit */
/** What a time is compared with. @typedef {{ from: string, to: string, name: string, isAsked: boolean }} Before `isAsked` if the API doesn't compare with it by itself */

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
 * @property {string} dates which days they are
 * @property {Before} [before]
 */

/**
 * Whole days.
 * @typedef {object} Days
 * @property {Exclude<Range, '24h'>} range
 * @property {string} first as the API names days
 * @property {string} last
 * @property {string} name such as `30 days`
 * @property {{ first: string, last: string, name: string }} [before]
 */

export const HOUR_MS = 3_600_000;

/** Beyond, hours would be narrower than a pixel. */
const MOST_DAYS_BY_HOUR = 31;
/** So few days would be dots rather than a line. */
const FEW_DAYS = 2;
/** Fewer make no weeks or months to compare. */
const LEAST_DAYS = { week: 14, month: 59 };
/** What begins just now has room to grow. */
const LEAST_HOURS = 6;
const DEFAULT_RANGE = '30d';
const YOUNG = 'since it was created';

/** @type {Record<'7d' | '30d' | '12m', { days: number, name: string }>} */
const LENGTHS = { '7d': { days: 7, name: '7 days' }, '30d': { days: 30, name: '30 days' }, '12m': { days: 365, name: '12 months' } };

// A date stands for its midnight in UTC, whichever zone it is of.
const dateFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const hourFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' });

/** The day of a time by the visitor's clock, as the API names it. @param {number} time */
export function dayOf(time) {
  const date = new Date(time);
  return new Date(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate())).toISOString().slice(0, 10);
}

/** The day of a time in UTC. @param {number} time */
export const utcDayOf = (time) => new Date(time).toISOString().slice(0, 10);

/** When a day begins. @param {string} day */
const startOf = (day) => new Date(`${day}T00:00:00`).getTime();

/** How many days there are, with both. @param {string} first @param {string} last */
export const daysBetween = (first, last) => (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;

/** `3 Mar – 4 Apr 2026` @param {string} first @param {string} last */
export const datesOf = (first, last) => (first === last ? dateFormat.format(Date.parse(first)) : dateFormat.formatRange(Date.parse(first), Date.parse(last)));

/** What the line of a time before is called. @param {{ name: string }} before */
export const nameOfLine = ({ name }) => name.charAt(0).toUpperCase() + name.slice(1);

/** When the hour of a time begins. @param {number} time */
const hourOf = (time) => new Date(time).setMinutes(0, 0, 0);

/** @param {PeriodUnit} unit @returns {Interval} */
export const intervalOf = (unit) => (unit === 'hour' ? 'hour' : 'day');

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
  if (own) return withNames('own', own);
  const preset = presetDays(range, today);
  if (preset) return withNames(/** @type {import('./presets.js').Preset} */ (range), preset);
  const known = range === '7d' || range === '12m' ? range : DEFAULT_RANGE;
  const { days, name } = LENGTHS[known];
  return withNames(known, lastDays(days, today, name));
}

/** @param {Days['range']} range @param {import('./presets.js').Named} named @returns {Days} */
function withNames(range, { before, ...named }) {
  return { range, ...named, ...(before && { before: { name: datesOf(before.first, before.last), ...before } }) };
}

/** @param {URLSearchParams} query @param {string} today @returns {import('./presets.js').Named | undefined} */
function ownDays(query, today) {
  const given = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
  if (given.some(Number.isNaN)) return undefined;
  const [first, wanted] = given.map(utcDayOf);
  const last = wanted < today ? wanted : today;
  const days = daysBetween(first, last);
  if (days < 1 || days > MOST_DAYS) return undefined;
  return { first, last, name: datesOf(first, last), before: daysBefore(first, days) };
}

/** @param {number} now @param {number} born @returns {Period} */
function lastHours(now, born) {
  const end = hourOf(now) + HOUR_MS;
  const isYoung = born > end - DAY_MS;
  const times = isYoung ? youngHours(born, end) : { start: end - DAY_MS, end };
  const name = isYoung ? YOUNG : '24 hours';
  const before = { ...fromTo({ start: times.start - DAY_MS, end: times.start }), name: 'the previous 24 hours', isAsked: false };
  return { range: '24h', unit: 'hour', units: ['hour'], isYoung, name, dates: hourFormat.formatRange(times.start, times.end), ...momentsOf(times), ...(!isYoung && { before }) };
}

/**
 * @param {Days} wanted
 * @param {URLSearchParams} query
 * @param {number} now
 * @param {number} born
 * @returns {Period}
 */
function periodOfDays(wanted, query, now, born) {
  const { range, last } = wanted;
  const end = startOf(dayAfter(last, 1));
  const isYoung = born > startOf(wanted.first) && born < end;
  const first = isYoung ? dayOf(born) : wanted.first;
  const [unit, units] = unitOf(query, daysBetween(first, last));
  const common = { range, unit, units, isYoung, name: isYoung ? YOUNG : wanted.name, dates: datesOf(first, last) };
  if (isYoung && unit === 'hour') return { ...common, ...momentsOf(youngHours(born, Math.min(end, hourOf(now) + HOUR_MS))) };
  const before = isYoung ? undefined : comparedWith(wanted, now);
  return { ...common, start: startOf(first), end, from: first, to: last, ...(before && { before }) };
}

/** @param {Days} days @param {number} now @returns {Before | undefined} */
function comparedWith({ range, first, last, before }, now) {
  if (!before) return undefined;
  if (range === 'today') {
    // By the clock, so that it is as long, but where clocks are set.
    const until = new Date(now);
    until.setDate(until.getDate() - 1);
    return { ...fromTo({ start: startOf(before.first), end: until.setSeconds(0, 0) }), name: 'yesterday by this time', isAsked: true };
  }
  const count = daysBetween(first, last);
  const isNext = before.last === dayAfter(first, -1) && daysBetween(before.first, before.last) === count;
  return { from: before.first, to: before.last, name: before.name, isAsked: !isNext || 2 * count > MOST_DAYS };
}

/** With so many hours before it that its first clicks are a line. @param {number} born @param {number} end */
const youngHours = (born, end) => ({ start: Math.min(hourOf(born), end - LEAST_HOURS * HOUR_MS), end });

/** @param {{ start: number, end: number }} times */
const fromTo = ({ start, end }) => ({ from: new Date(start).toISOString(), to: new Date(end).toISOString() });

/** @param {{ start: number, end: number }} times */
const momentsOf = (times) => ({ ...times, ...fromTo(times) });

/** What an address counts by, and what so many days can be counted by. @param {URLSearchParams} query @param {number} days @returns {[PeriodUnit, PeriodUnit[]]} */
export function unitOf(query, days) {
  const units = unitsOf(days);
  const wanted = units.find((unit) => unit === query.get('interval'));
  return [wanted ?? (days <= FEW_DAYS ? 'hour' : 'day'), units];
}

/** @param {number} days @returns {PeriodUnit[]} */
export function unitsOf(days) {
  const isPossible = { hour: days <= MOST_DAYS_BY_HOUR, day: true, week: days >= LEAST_DAYS.week, month: days >= LEAST_DAYS.month };
  return /** @type {const} */ (['hour', 'day', 'week', 'month']).filter((unit) => isPossible[unit]);
}
