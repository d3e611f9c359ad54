// Weeks and months of a chart, which are sums of its days.

import { datesOf, utcDayOf } from './period.js';
import { dayAfter, mondayOf } from './presets.js';

/** @typedef {import('./lines.js').Values} Values */
/** @typedef {import('../chart/chart.js').ChartProps} ChartProps */

const monthFormat = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });

/**
 * The same chart by weeks or months. Those of the time before are as many days, one after the other.
 * @param {ChartProps} chart by days
 * @param {import('./period.js').PeriodUnit} unit
 * @returns {ChartProps}
 */
export function summedUp(chart, unit) {
  if (unit !== 'week' && unit !== 'month') return chart;
  const { times, series, running } = chart;
  const days = times.map((time) => utcDayOf(time * 1000));
  const begins = days.map((day) => (unit === 'week' ? mondayOf(day) : day.slice(0, 7)));
  const starts = begins.flatMap((begin, at) => (begin === begins[at - 1] ? [] : [at]));
  const parts = starts.map((start, at) => ({ start, end: starts[at + 1] ?? days.length }));
  const isRunning = parts.findIndex(({ start, end }) => running !== undefined && start <= running && running < end);
  return {
    ...chart,
    unit,
    times: starts.map((start) => times[start]),
    names: parts.map(({ start, end }) => nameOf(days[start], days[end - 1], unit)),
    series: series.map((one) => ({ ...one, values: parts.map(({ start, end }) => sumOf(one.values.slice(start, end))) })),
    ...(isRunning < 0 ? { running: undefined } : { running: isRunning }),
  };
}

/** What isn't a whole month is named by its days. @param {string} first @param {string} last @param {'week' | 'month'} unit */
function nameOf(first, last, unit) {
  const isWhole = unit === 'month' && first.endsWith('-01') && dayAfter(last, 1).endsWith('-01');
  return isWhole ? monthFormat.format(new Date(first)) : datesOf(first, last);
}

/** @param {Values} values */
function sumOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null;
}
