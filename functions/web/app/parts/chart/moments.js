// How a chart and its table name times. A day stands for its midnight in UTC, whichever zone it is of; all else is in the visitor's time zone.

import { SO_FAR } from './running.js';

/** @typedef {'day' | 'hour' | 'minute' | 'week' | 'month'} Unit what a value is for: a day, an hour, or a moment; weeks and months have names of their own */

export const DAY_SECONDS = 86_400;
const MONTH_SECONDS = 28 * DAY_SECONDS;

/** @param {Unit} unit */
export const isOfDays = (unit) => unit !== 'hour' && unit !== 'minute';

/** @param {Intl.DateTimeFormatOptions} options */
function bothZones(options) {
  const [here, utc] = [new Intl.DateTimeFormat(undefined, options), new Intl.DateTimeFormat(undefined, { ...options, timeZone: 'UTC' })];
  return (/** @type {number} */ seconds, /** @type {Unit} */ unit) => (isOfDays(unit) ? utc : here).format(new Date(seconds * 1000));
}

const monthOf = bothZones({ month: 'short', year: 'numeric' });
const dayOf = bothZones({ day: 'numeric', month: 'short' });
const timeOf = bothZones({ hour: 'numeric', minute: '2-digit' });
const longDayOf = bothZones({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
const longTimeOf = bothZones({ weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' });

/**
 * The whole name of one of the times: of a running one it says so, and of another zone's day which zone that is.
 * @param {Pick<import('./chart.js').ChartProps, 'times' | 'unit' | 'names' | 'zone' | 'running'>} chart
 * @param {number} at
 */
export function nameAt({ times, unit, names, zone, running }, at) {
  const name = names?.[at] ?? (isOfDays(unit) ? longDayOf : longTimeOf)(times[at], unit);
  return [name, isOfDays(unit) && zone ? ` ${zone}` : '', at === running ? `, ${SO_FAR}` : ''].join('');
}

/**
 * What stands below the chart: as much as tells the marks from each other.
 * @param {number} seconds
 * @param {Unit} unit
 * @param {number} step the seconds between two marks
 */
export function markName(seconds, unit, step) {
  if (step >= MONTH_SECONDS) return monthOf(seconds, unit);
  if (step >= DAY_SECONDS) return dayOf(seconds, unit);
  const date = new Date(seconds * 1000);
  return date.getHours() + date.getMinutes() === 0 ? dayOf(seconds, unit) : timeOf(seconds, unit);
}
