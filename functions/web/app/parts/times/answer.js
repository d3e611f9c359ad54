// What the API knows of the clicks of a time.

import { ApiError, call } from '../../core/api.js';
import { AUDIENCES } from './audience.js';
import { intervalOf } from './period.js';

/** @typedef {{ period: string, clicks: number, human_clicks: number }} Point */

/**
 * The numbers of a time.
 * @typedef {object} Sums
 * @property {string} from
 * @property {string} to
 * @property {number} total_clicks
 * @property {number} human_clicks
 * @property {number} unique_visitors
 * @property {Point[]} points
 */

/**
 * @typedef {Sums & Required<import('../panels/kinds.js').Breakdowns> & {
 *   tz: string,
 *   interval: import('./period.js').Interval,
 *   as_of: string,
 *   week: number[][],
 *   before: Sums | null,
 *   covers: { clicks: number, of: number, since: string } | null,
 * }} Answer
 */

/** Which clicks are meant: values by the names of the API's parameters. @typedef {Record<string, string[]>} Filter */

const UTC = 'UTC';
const here = { zone: Intl.DateTimeFormat().resolvedOptions().timeZone || UTC };

/** Whether days and hours are the visitor's. @param {Answer} answer */
export const isOfHere = ({ tz }) => tz !== UTC || here.zone === UTC;

/**
 * What the API is asked for a time.
 * @param {{ from: string, to: string }} time
 * @param {import('./audience.js').Audience} audience
 * @param {Filter} [filter]
 */
export const queryOf = ({ from, to }, audience, filter = {}) => ({ from, to, tz: here.zone, audience: AUDIENCES[audience], ...filter });

/**
 * The numbers of a link.
 * @param {string} code
 * @param {import('./period.js').Period} period
 * @param {import('./audience.js').Audience} audience
 * @param {Filter} [filter]
 * @returns {Promise<Answer>}
 */
export async function readAnswer(code, period, audience, filter) {
  const answer = await readTime(code, period, period, audience, filter);
  const { before } = period;
  if (!before?.isAsked) return answer;
  // Without it, the numbers are still worth seeing.
  return { ...answer, before: await readTime(code, before, period, audience, filter).catch(() => null) };
}

/**
 * @param {string} code
 * @param {{ from: string, to: string }} time
 * @param {Pick<import('./period.js').Period, 'unit'>} period
 * @param {import('./audience.js').Audience} audience
 * @param {Filter} [filter]
 * @returns {Promise<Answer>}
 */
async function readTime(code, time, { unit }, audience, filter) {
  const read = () => call('GET /api/stats/{code}', { path: { code }, query: { ...queryOf(time, audience, filter), interval: intervalOf(unit) } });
  try {
    return await read();
  } catch (error) {
    // A browser may call its zone by a name that the API doesn't know.
    if (!(error instanceof ApiError) || error.field !== 'tz' || here.zone === UTC) throw error;
    here.zone = UTC;
    return read();
  }
}
