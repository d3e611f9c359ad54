// Numbers, dates and addresses as people read them, in the visitor's locale and time zone.

export const DAY_MS = 86_400_000;
const exact = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const abbreviated = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const wholePercentage = new Intl.NumberFormat(undefined, { style: 'percent' });
const percentage = new Intl.NumberFormat(undefined, { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 });
const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const timeFormat = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const fullFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });
const relativeDay = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const regions = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'code' });

/** `12,403` @param {number} value */
export const number = (value) => exact.format(value);

/** `12.4k` @param {number} value */
export const shortNumber = (value) => (value < 10_000 ? exact.format(value) : abbreviated.format(value).replace('K', 'k'));

/** Shares of 1 that stand below each other: all with one digit behind the point, or none. @param {number[]} shares */
export function percents(shares) {
  const areWhole = shares.every((share) => Math.round(share * 1000) % 10 === 0);
  return shares.map((areWhole ? wholePercentage : percentage).format);
}

/** `12.5%` @param {number} share of 1 */
export const percent = (share) => percents([share])[0];

/** `3 Mar 2026` @param {string | Date} when */
export const day = (when) => dayFormat.format(new Date(when));

/** The whole time, for a tooltip. @param {string | Date} when */
export const fullTime = (when) => fullFormat.format(new Date(when));

/** `today, 14:05`, `yesterday, 09:30`, `3 Mar 2026`, within a sentence @param {string | Date} when */
export function momentInText(when) {
  const date = new Date(when);
  const days = Math.round((startOfDay(date) - startOfDay(new Date())) / DAY_MS);
  if (Math.abs(days) > 1) return dayFormat.format(date);
  return `${relativeDay.format(days, 'day')}, ${timeFormat.format(date)}`;
}

/** The same where it stands alone: `Today, 14:05` @param {string | Date} when */
export const moment = (when) => capitalized(momentInText(when));

/** With the time of the day, however long ago it is: `3 Mar 2026, 14:05`, within a sentence @param {string | Date} when */
export function exactMomentInText(when) {
  const text = momentInText(when);
  const time = timeFormat.format(new Date(when));
  return text.endsWith(time) ? text : `${text}, ${time}`;
}

/** The same where it stands alone. @param {string | Date} when */
export const exactMoment = (when) => capitalized(exactMomentInText(when));

/** @param {string} text */
const capitalized = (text) => text.charAt(0).toLocaleUpperCase() + text.slice(1);

/** As an input for date and time wants it: in the visitor's zone, without saying so. @param {string | Date} when */
export function localText(when) {
  const date = new Date(when);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** @param {Date} date */
const startOfDay = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ['year', 365 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** How long ago, in short: `3 d` @param {string | Date} when */
export function age(when) {
  const passed = Date.now() - new Date(when).getTime();
  const [unit, size] = UNITS.find(([, millis]) => passed >= millis) ?? ['minute', 60_000];
  const count = Math.floor(passed / size);
  if (count < 1) return 'now';
  const letters = { year: 'y', month: 'mo', day: 'd', hour: 'h', minute: 'min' };
  return `${exact.format(count)} ${letters[/** @type {keyof typeof letters} */ (unit)]}`;
}

/** `3 d ago`, `just now` @param {string | Date} when */
export const ago = (when) => (age(when) === 'now' ? 'just now' : `${age(when)} ago`);

/** `1 link`, `2 links` @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${exact.format(count)} ${count === 1 ? one : many}`;

/** `Norway`; what is no country stays as it is. @param {string} code */
export const regionName = (code) => (/^[A-Z]{2}$/.test(code) ? regions.of(code) : undefined) ?? code;

/** The host of an address as people read it, without `www.` @param {string} url */
export function hostOf(url) {
  try {
    return new URL(url).hostname.replace(/^www\./, '');
  } catch {
    return url;
  }
}

/** An address without scheme @param {string} url */
export const withoutScheme = (url) => url.replace(/^https?:\/\//i, '').replace(/\/$/, '');

/**
 * A text that is cut in its middle, so that its beginning and its end stay.
 * @param {string} text
 * @param {number} length
 */
export function cutMiddle(text, length) {
  const letters = [...text];
  if (letters.length <= length) return text;
  const end = Math.floor(length / 3);
  return `${letters.slice(0, length - end - 1).join('')}…${letters.slice(-end).join('')}`;
}
