// The kinds of values that clicks have: what the API calls them, and how pages do.

import { countryName, deviceName, destinationName, pageOfReferer, sourceName, valueName } from './names.js';

/**
 * What clicks had in common.
 * @typedef {object} Breakdowns
 * @property {number} total_clicks
 * @property {{ referer: string, count: number }[]} referers
 * @property {{ source: string, count: number }[]} sources
 * @property {{ campaign: string, count: number }[]} campaigns
 * @property {{ country: string | null, count: number }[]} countries
 * @property {{ device: string, count: number }[]} devices
 * @property {{ browser: string, count: number }[]} browsers
 * @property {{ os: string, count: number }[]} operating_systems
 * @property {{ destination: string, count: number }[]} [destinations] those of several links have nothing in common
 */

/**
 * @typedef {object} Kind
 * @property {string} name of the parameter that asks for values of it, and of the column of its tables
 * @property {string} title
 * @property {string} one what one value is
 * @property {(answer: Breakdowns) => [string, number][]} counts of its values
 * @property {(value: string) => string} nameOf
 * @property {string} none what is said if no click has a value
 * @property {string} table the table of the API that has it as CSV
 */

/** Clicks without a value have this one. */
export const NONE = '(none)';
/** Stands for values of which only the sum is known, so it can't be asked for. */
export const OTHERS = '(other)';
/** What asks for clicks whose country isn’t known. */
export const UNKNOWN_COUNTRY = 'unknown';

/** @type {Kind[]} */
export const KINDS = [
  {
    name: 'destination',
    title: 'Destinations',
    one: 'Destination',
    counts: ({ destinations = [] }) => destinations.map(({ destination, count }) => [destination, count]),
    nameOf: (value) => (value === NONE ? 'Before rules were added' : destinationName(value)),
    none: 'None of these clicks matched a rule.',
    table: 'destinations',
  },
  {
    name: 'referer',
    title: 'Referrers',
    one: 'Referrer',
    counts: (answer) => withDirect(answer.referers.map(({ referer, count }) => [referer, count]), answer.total_clicks),
    nameOf: (value) => (value === NONE ? 'Direct' : pageOfReferer(valueName(value))),
    none: 'No data yet.',
    table: 'referers',
  },
  {
    name: 'source',
    title: 'Sources',
    one: 'Source',
    counts: ({ sources }) => sources.map(({ source, count }) => [source, count]),
    nameOf: sourceName,
    none: 'No data yet.',
    table: 'sources',
  },
  {
    name: 'campaign',
    title: 'Campaigns',
    one: 'Campaign',
    counts: ({ campaigns }) => campaigns.map(({ campaign, count }) => [campaign, count]),
    nameOf: (value) => (value === NONE ? 'No campaign' : valueName(value)),
    none: 'None of these clicks came from a campaign.',
    table: 'campaigns',
  },
  {
    name: 'country',
    title: 'Countries',
    one: 'Country',
    counts: ({ countries }) => countries.map(({ country, count }) => [country ?? UNKNOWN_COUNTRY, count]),
    nameOf: countryName,
    none: 'No data yet.',
    table: 'countries',
  },
  {
    name: 'device',
    title: 'Devices',
    one: 'Device',
    counts: ({ devices }) => devices.map(({ device, count }) => [device, count]),
    nameOf: deviceName,
    none: 'No data yet.',
    table: 'devices',
  },
  {
    name: 'browser',
    title: 'Browsers',
    one: 'Browser',
    counts: ({ browsers }) => browsers.map(({ browser, count }) => [browser, count]),
    nameOf: valueName,
    none: 'No data yet.',
    table: 'browsers',
  },
  {
    name: 'os',
    title: 'Systems',
    one: 'System',
    counts: ({ operating_systems: systems }) => systems.map(({ os, count }) => [os, count]),
    nameOf: valueName,
    none: 'No data yet.',
    table: 'operating_systems',
  },
];

/** Those that came from no page have no row of their own: they are the rest. @param {[string, number][]} pairs @param {number} total @returns {[string, number][]} */
function withDirect(pairs, total) {
  const rest = total - pairs.reduce((sum, [, count]) => sum + count, 0);
  return rest > 0 ? [...pairs, [NONE, rest]] : pairs;
}

/** @typedef {{ value: string, name: string, count: number, isChosen: boolean }} Row */

/**
 * The values that an answer has, the most frequent first.
 * @param {Kind} kind
 * @param {Breakdowns} answer
 * @param {string[]} [chosen] what is asked for
 * @returns {Row[]}
 */
export function rowsOf(kind, answer, chosen = []) {
  const rows = kind.counts(answer).map(([value, count]) => ({ value, name: kind.nameOf(value), count, isChosen: chosen.includes(value) }));
  // All others together come last, however many they are.
  return rows.sort((one, other) => Number(one.value === OTHERS) - Number(other.value === OTHERS) || other.count - one.count || one.name.localeCompare(other.name));
}
