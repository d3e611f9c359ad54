import { ApiError, call } from '../../core/api.js';
import { periodOf, readAnswer } from '../../parts/times/times.js';
import { LOOKS } from './looks.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {import('../../parts/times/answer.js').Answer} Answer */

/**
 * A link, as far as it is there.
 * @typedef {object} ComparedLink
 * @property {string} code
 * @property {typeof LOOKS[number]} look of its line
 * @property {Link} [link]
 * @property {Answer} [answer]
 * @property {string} [failure] why it isn't there
 */

/** @typedef {{ period: import('../../parts/times/period.js').Period, links: ComparedLink[] }} Compared */

/**
 * @param {string[]} codes
 * @param {URLSearchParams} query
 * @param {import('../../parts/times/audience.js').Audience} audience
 * @returns {Promise<Compared>}
 */
export async function readCompared(codes, query, audience) {
  const links = await Promise.all(codes.map(readLink));
  const born = links.flatMap(({ link }) => link?.created_at ?? []).sort();
  // If all of them are younger than the range, it begins with the oldest.
  const period = periodOf(query, Date.now(), born[0]);
  const answers = await Promise.all(links.map(({ code, link }) => (link ? readAnswer(code, period, audience) : undefined)));
  return { period, links: links.map((one, at) => ({ ...one, look: LOOKS[at], answer: answers[at] })) };
}

/** @param {string} code @returns {Promise<{ code: string, link?: Link, failure?: string }>} */
async function readLink(code) {
  try {
    return { code, link: await call('GET /api/links/{code}', { path: { code } }) };
  } catch (error) {
    // That one is gone doesn't keep the others from being compared.
    if (!(error instanceof ApiError) || error.isTemporary || error.status === 401) throw error;
    return { code, failure: error.message };
  }
}
