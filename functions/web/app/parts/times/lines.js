// The points of an answer as lines over the whole time: the API leaves out days and hours without clicks.

import { isOfHere } from './answer.js';
import { DAY_MS, HOUR_MS } from './period.js';

/** @typedef {import('./answer.js').Answer} Answer */
/** @typedef {(number | null)[]} Values one for each time; `null` where nothing is known, or nothing can be yet */

/**
 * @typedef {object} Lines
 * @property {number[]} times when each day or hour begins, in seconds since 1970; a day stands for its midnight in UTC
 * @property {Values} clicks
 * @property {Values} humans those of humans
 * @property {Values | null} before the clicks of the time before
 * @property {number} [running] which of the times isn't over
 */

/**
 * @param {Answer} answer
 * @param {number} now
 * @returns {Lines}
 */
export function linesOf(answer, now) {
  const times = timesOf(answer, answer);
  const points = new Map(answer.points.map((point) => [Date.parse(point.period), point]));
  const isKnown = knownIn(answer, now);
  const values = (/** @type {'clicks' | 'human_clicks'} */ name) => times.map((time) => (isKnown(time) ? (points.get(time)?.[name] ?? 0) : null));
  const lines = { times: times.map((time) => time / 1000), clicks: values('clicks'), humans: values('human_clicks'), before: beforeOf(answer, times.length) };
  return { ...lines, ...runningIn(times, answer.interval === 'hour' ? now - HOUR_MS + 1 : Date.parse(dayIn(answer.tz, now)), now) };
}

/** Which of the times is running: the one that begins between these. @param {number[]} times @param {number} from @param {number} to */
function runningIn(times, from, to) {
  const running = times.findLastIndex((time) => time >= from && time <= to);
  return running < 0 ? {} : { running };
}

/** Which times have numbers: not those to come, nor those whose clicks weren't looked at. @param {Answer} answer @param {number} now */
function knownIn({ interval, tz, covers }, now) {
  const [since, until] = [covers ? Date.parse(covers.since) : -Infinity, now];
  if (interval === 'hour') return (/** @type {number} */ time) => time + HOUR_MS > since && time <= until;
  const [first, last] = [since === -Infinity ? since : Date.parse(dayIn(tz, since)), Date.parse(dayIn(tz, until))];
  return (/** @type {number} */ time) => time >= first && time <= last;
}

/** As many as there are times: where clocks are set, the time before may have an hour more or less. @param {Answer} answer @param {number} count */
function beforeOf(answer, count) {
  const { before } = answer;
  if (!before) return null;
  const clicks = new Map(before.points.map((point) => [Date.parse(point.period), point.clicks]));
  const values = timesOf(answer, before).map((time) => clicks.get(time) ?? 0);
  return Array.from({ length: count }, (_, at) => values[at] ?? null);
}

/**
 * When the days or hours of a time begin.
 * @param {Answer} answer
 * @param {Pick<Answer, 'from' | 'to' | 'points'>} part
 * @returns {number[]} in milliseconds
 */
function timesOf(answer, { from, to, points }) {
  const { interval, tz } = answer;
  const [start, end] = [Date.parse(from), Date.parse(to)];
  if (interval === 'day') return steps(Date.parse(dayIn(tz, start)), Date.parse(dayIn(tz, end - 1)) + 1, DAY_MS);
  const first = isOfHere(answer) ? new Date(start).setMinutes(0, 0, 0) : start - (start % HOUR_MS);
  // Where clocks are set by half an hour, hours begin at others than these.
  const times = new Set([...steps(first, end, HOUR_MS), ...points.map(({ period }) => Date.parse(period))]);
  return [...times].sort((one, other) => one - other);
}

/** @param {number} from @param {number} to @param {number} step */
const steps = (from, to, step) => Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, at) => from + at * step);

/** The day of a time in a zone, as the API names it. @param {string} tz @param {number} time */
function dayIn(tz, time) {
  const parts = new Intl.DateTimeFormat('en', { timeZone: tz, year: 'numeric', month: '2-digit', day: '2-digit' }).formatToParts(time);
  return ['year', 'month', 'day'].map((type) => parts.find((part) => part.type === type)?.value).join('-');
}

/**
 * Lines of several answers about the same time, on the times of all of them.
 * @param {Lines[]} all
 * @returns {{ times: number[], clicks: Values[], running?: number }}
 */
export function mergedLines(all) {
  const times = [...new Set(all.flatMap((lines) => lines.times))].sort((one, other) => one - other);
  const clicks = all.map((lines) => {
    const values = new Map(lines.times.map((time, at) => [time, lines.clicks[at]]));
    return times.map((time) => values.get(time) ?? null);
  });
  const begun = all.flatMap((lines) => (lines.running === undefined ? [] : lines.times[lines.running]));
  return { times, clicks, ...(begun.length > 0 && { running: times.indexOf(begun[0]) }) };
}
