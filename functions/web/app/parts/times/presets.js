// Times that have a name, and what each is compared with: of the running week, month, quarter or year as many days as have gone by.

/** @typedef {'today' | 'yesterday' | 'week' | 'last-week' | 'month' | 'last-month' | 'quarter' | '90d' | 'year' | 'all'} Preset */

/**
 * @typedef {object} Named
 * @property {string} first as the API names days
 * @property {string} last
 * @property {string} name such as `last week`
 * @property {{ first: string, last: string, name?: string }} [before] what it is compared with; without a name, its days are its name
 */

export const DAY_MS = 86_400_000;
/** The API answers with so many days at once. */
export const MOST_DAYS = 396;

/** Below each other as people look for them. @type {{ value: Preset, label: string, note?: string }[]} */
export const PRESETS = [
  { value: 'today', label: 'Today' },
  { value: 'yesterday', label: 'Yesterday' },
  { value: 'week', label: 'This week' },
  { value: 'last-week', label: 'Last week' },
  { value: 'month', label: 'This month' },
  { value: 'last-month', label: 'Last month' },
  { value: 'quarter', label: 'This quarter' },
  { value: '90d', label: 'Last 90 days' },
  { value: 'year', label: 'This year' },
  { value: 'all', label: 'All', note: 'Up to 13 months' },
];

/** @param {number} time */
const dayAt = (time) => new Date(time).toISOString().slice(0, 10);

/** @param {string} day @param {number} days */
export const dayAfter = (day, days) => dayAt(Date.parse(day) + days * DAY_MS);

/** @param {string} day @param {number} months @param {number} [date] of the month */
function inMonth(day, months, date = 1) {
  const at = new Date(day);
  return dayAt(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, date));
}

/** Weeks begin on Monday, as in the API. @param {string} day */
export const mondayOf = (day) => dayAfter(day, -((new Date(day).getUTCDay() + 6) % 7));

/** @param {string} one @param {string} other */
const earlier = (one, other) => (one < other ? one : other);

/**
 * As much of the time before as has gone by of the running one.
 * @param {string} first when the time before begins
 * @param {string} like the day in it that is like today
 * @param {string} next when the running time begins
 */
const sameOf = (first, like, next) => ({ first, last: earlier(like, dayAfter(next, -1)) });

/** @type {Record<Preset, (today: string) => Named>} */
const TIMES = {
  today: (today) => ({ first: today, last: today, name: 'today', before: { first: dayAfter(today, -1), last: dayAfter(today, -1), name: 'yesterday' } }),
  yesterday: (today) => {
    const [day, before] = [dayAfter(today, -1), dayAfter(today, -2)];
    return { first: day, last: day, name: 'yesterday', before: { first: before, last: before, name: 'the previous day' } };
  },
  week: (today) => {
    const first = mondayOf(today);
    return { first, last: today, name: 'this week', before: { first: dayAfter(first, -7), last: dayAfter(today, -7) } };
  },
  'last-week': (today) => {
    const next = mondayOf(today);
    const before = { first: dayAfter(next, -14), last: dayAfter(next, -8), name: 'the previous week' };
    return { first: dayAfter(next, -7), last: dayAfter(next, -1), name: 'last week', before };
  },
  month: (today) => {
    const first = inMonth(today, 0);
    return { first, last: today, name: 'this month', before: sameOf(inMonth(today, -1), inMonth(today, -1, new Date(today).getUTCDate()), first) };
  },
  'last-month': (today) => {
    const before = { first: inMonth(today, -2), last: inMonth(today, -1, 0), name: 'the previous month' };
    return { first: inMonth(today, -1), last: inMonth(today, 0, 0), name: 'last month', before };
  },
  quarter: (today) => {
    const months = new Date(today).getUTCMonth() % 3;
    const [first, earlierFirst] = [inMonth(today, -months), inMonth(today, -months - 3)];
    return { first, last: today, name: 'this quarter', before: sameOf(earlierFirst, dayAt(Date.parse(earlierFirst) + Date.parse(today) - Date.parse(first)), first) };
  },
  '90d': (today) => lastDays(90, today),
  year: (today) => {
    const at = new Date(today);
    const first = inMonth(today, -at.getUTCMonth());
    const before = sameOf(inMonth(first, -12), inMonth(today, -12, at.getUTCDate()), first);
    return { first, last: today, name: 'this year', before };
  },
  all: (today) => ({ first: dayAfter(today, 1 - MOST_DAYS), last: today, name: '13 months' }),
};

/** @param {string} name @param {string} today @returns {Named | undefined} */
export const presetDays = (name, today) => (Object.hasOwn(TIMES, name) ? TIMES[/** @type {Preset} */ (name)](today) : undefined);

/** @param {number} days @param {string} today @param {string} [name] @returns {Named} */
export function lastDays(days, today, name = `${days} days`) {
  const first = dayAfter(today, 1 - days);
  return { first, last: today, name, before: { ...daysBefore(first, days), name: `the previous ${name}` } };
}

/** As many days before a day. @param {string} first @param {number} days */
export const daysBefore = (first, days) => ({ first: dayAfter(first, -days), last: dayAfter(first, -1) });
