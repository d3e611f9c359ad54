// What the readings of a period say: totals, the lines of the chart, and what visitors had in common.

import { withoutScheme } from '../../core/format.js';
import { HOUR_MS, startsOf } from './period.js';
import { MOST_CLICKS, MOST_REFERRERS } from './read.js';
import { countryName, destinationName, deviceName, pageOfReferer, valueName } from './names.js';

/** @typedef {import('./read.js').Readings} Readings */
/** @typedef {import('./read.js').Click} Click */
/** @typedef {import('./read.js').Statistics} Statistics */
/** @typedef {{ name: string, count: number }} Row */
/** @typedef {{ now: number, before: number | null }} Compared what is before is `null` if nobody knows */

/** Single clicks and sums come by different ways, and may be some seconds apart. */
const ON_THEIR_WAY = 5;
const DIRECT = 'Direct or unknown';

/**
 * @typedef {object} Numbers
 * @property {Compared} clicks
 * @property {Compared} people
 * @property {Compared | null} visitorsADay
 * @property {number[]} times in seconds, for the chart
 * @property {import('../../parts/chart/chart.js').Series[]} series
 * @property {Click[] | null} clicksOfPeriod all of them, if so few
 */

/**
 * @param {Readings} readings
 * @param {Click[] | undefined} latest the latest clicks, if they could be read
 * @param {boolean} hasBefore whether the link was there before the period
 * @returns {Numbers}
 */
export function numbersOf(readings, latest, hasBefore) {
  const { period, days, hours } = readings;
  const [all, people] = period.unit === 'hour' ? [hoursOf(hours ?? [], 'clicks'), hoursOf(hours ?? [], 'people')] : [daysOf(days ?? [], 'total_clicks'), daysOf(days ?? [], 'human_clicks')];
  const during = (/** @type {Map<number, number>} */ counts) => valuesIn(counts, period.from, period.to, period.unit);
  const earlier = (/** @type {Map<number, number>} */ counts) => valuesIn(counts, period.before, period.from, period.unit);
  const compared = (/** @type {Map<number, number>} */ counts) => ({ now: sum(during(counts)), before: hasBefore ? sum(earlier(counts)) : null });
  const clicks = compared(all);
  const clicksOfPeriod = latest ? clicksOf(period, latest, clicks.now) : null;
  const series = [
    { label: 'People', look: /** @type {const} */ ('area'), values: untilNow(during(people), readings) },
    { label: 'All clicks', look: /** @type {const} */ ('line'), values: untilNow(during(all), readings) },
    ...(hasBefore ? [{ label: `The ${period.range === 'own' ? 'time' : period.name} before`, look: /** @type {const} */ ('before'), values: earlier(all) }] : []),
  ];
  const times = startsOf(period.from, period.to, period.unit).map((time) => time / 1000);
  return { clicks, people: compared(people), visitorsADay: visitorsADayOf(readings, hasBefore), times, series, clicksOfPeriod };
}

/** @param {import('./read.js').Point[]} points @param {'clicks' | 'people'} member */
const hoursOf = (points, member) => new Map(points.map((point) => [Date.parse(point.period), point[member]]));

/** @param {import('./read.js').Day[]} days @param {'total_clicks' | 'human_clicks' | 'unique_visitors'} member */
const daysOf = (days, member) => new Map(days.map((day) => [Date.parse(day.date), day[member]]));

/** @param {Map<number, number>} counts @param {number} from @param {number} to @param {import('./period.js').PeriodUnit} unit */
const valuesIn = (counts, from, to, unit) => startsOf(from, to, unit).map((time) => counts.get(time) ?? 0);

/** @param {number[]} values */
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** Hours that are still to come have no value. @param {number[]} values @param {Readings} readings @returns {(number | null)[]} */
function untilNow(values, { period }) {
  if (period.unit === 'day') return values;
  return values.map((value, index) => (period.from + index * HOUR_MS > Date.now() ? null : value));
}

/** All clicks of a period, if those that were read go back so far. @param {import('./period.js').Period} period @param {Click[]} latest @param {number} expected how many there should be */
function clicksOf({ from, to }, latest, expected) {
  const found = latest.filter(({ clicked_at: at }) => Date.parse(at) >= from && Date.parse(at) < to);
  const goesBack = latest.length < MOST_CLICKS || found.length < latest.length;
  return goesBack && found.length + ON_THEIR_WAY >= expected ? found : null;
}

/** Visitors of several days can't be added up, since some come again; their average can. @param {Readings} readings @param {boolean} hasBefore @returns {Compared | null} */
function visitorsADayOf({ period, days }, hasBefore) {
  if (!days) return null;
  const perDay = daysOf(days, 'unique_visitors');
  const average = (/** @type {number} */ from, /** @type {number} */ to) => {
    const values = valuesIn(perDay, from, to, 'day');
    return sum(values) / values.length;
  };
  return { now: average(period.from, period.to), before: hasBefore ? average(period.before, period.from) : null };
}

/** @typedef {{ title: string, rows: Row[], isAllTime: boolean, total: number }} Panel */

/**
 * Where visitors were led, and what they had in common: of the period where that is known, or else of all time.
 * @param {Readings} readings
 * @param {Numbers} numbers
 * @param {Statistics} statistics
 * @returns {Panel[]}
 */
export function panelsOf(readings, numbers, statistics) {
  const destinations = destinationsOf(statistics);
  return [...(destinations ? [destinations] : []), ...commonOf(readings, numbers, statistics)];
}

/** Where the link has led, if it has several destinations. @param {Statistics} statistics @returns {Panel | undefined} */
function destinationsOf({ destinations }) {
  if (!destinations?.length) return undefined;
  const rows = destinations.map(({ destination, count }) => ({ name: destinationName(destination), count }));
  return { title: 'Destinations', rows, isAllTime: true, total: sum(rows.map(({ count }) => count)) };
}

/** @param {Readings} readings @param {Numbers} numbers @param {Statistics} statistics @returns {Panel[]} */
function commonOf(readings, numbers, statistics) {
  const { clicksOfPeriod } = numbers;
  if (clicksOfPeriod) return panelsOfClicks(clicksOfPeriod);
  const total = statistics.total_clicks;
  const ever = (/** @type {string} */ title, /** @type {Row[]} */ rows) => ({ title, rows, isAllTime: true, total });
  const referrers = ever('Referrers', withDirect(statistics.top_referers, total));
  const browsers = ever('Browsers', statistics.browsers.map(({ browser, count }) => ({ name: valueName(browser), count })));
  const systems = ever('Systems', statistics.operating_systems.map(({ os, count }) => ({ name: valueName(os), count })));
  if (readings.days) return [referrers, ...panelsOfDays(readings, numbers.clicks.now), browsers, systems];
  return [
    referrers,
    ever('Countries', statistics.countries.map(({ country, count }) => ({ name: countryName(country), count }))),
    ever('Devices', statistics.devices.map(({ device, count }) => ({ name: deviceName(device), count }))),
    browsers,
    systems,
  ];
}

/** @param {Click[]} clicks @returns {Panel[]} */
function panelsOfClicks(clicks) {
  const panel = (/** @type {string} */ title, /** @type {(click: Click) => string} */ nameOf) => ({
    title,
    rows: tally(clicks.map((click) => [nameOf(click), 1])),
    isAllTime: false,
    total: clicks.length,
  });
  return [
    panel('Referrers', ({ referer }) => (referer === null ? DIRECT : pageOfReferer(referer))),
    panel('Countries', ({ country }) => countryName(country)),
    panel('Devices', ({ device }) => deviceName(device)),
    panel('Browsers', ({ browser }) => valueName(browser)),
    panel('Systems', ({ os }) => valueName(os)),
  ];
}

/** @param {Readings} readings @param {number} total @returns {Panel[]} */
function panelsOfDays({ period, days }, total) {
  const shown = (days ?? []).filter(({ date }) => Date.parse(date) >= period.from);
  const countries = shown.flatMap((day) => day.countries.map(({ country, count }) => /** @type {[string, number]} */ ([countryName(country), count])));
  const devices = shown.flatMap((day) => DEVICES.map((device) => /** @type {[string, number]} */ ([deviceName(device), day[device]])));
  return [
    { title: 'Countries', rows: tally(countries), isAllTime: false, total },
    { title: 'Devices', rows: tally(devices), isAllTime: false, total },
  ];
}

const DEVICES = /** @type {const} */ (['desktop', 'mobile', 'tablet', 'bot', 'unknown']);

/** Sums by name, the largest first. @param {[string, number][]} pairs @returns {Row[]} */
function tally(pairs) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const [name, count] of pairs) counts.set(name, (counts.get(name) ?? 0) + count);
  const rows = [...counts].filter(([, count]) => count > 0).map(([name, count]) => ({ name, count }));
  return rows.sort((one, other) => other.count - one.count || one.name.localeCompare(other.name));
}

/** If the API names all of them, the rest had none. @param {Statistics['top_referers']} referers @param {number} total @returns {Row[]} */
function withDirect(referers, total) {
  const rows = referers.map(({ referer, count }) => ({ name: withoutScheme(valueName(referer)), count }));
  const rest = total - sum(rows.map(({ count }) => count));
  const name = rows.length < MOST_REFERRERS ? DIRECT : 'Direct and all others';
  return rest > 0 ? [...rows, { name, count: rest }].sort((one, other) => other.count - one.count) : rows;
}
