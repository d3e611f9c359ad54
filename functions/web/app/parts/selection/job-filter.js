// Which links a job is for, when all that a list could show are meant.

import { mayAct, session } from '../../core/session.js';
import { requestOf } from '../../pages/links/filter.js';

/** @typedef {import('../../pages/links/filter.js').Filter} Filter */

/** What `POST /api/jobs` is given for the links of a list. @param {Filter} filter @returns {import('../jobs/words.js').JobFilter} */
export function jobFilterOf(filter) {
  const { sort, order, ...members } = requestOf(filter);
  // A list of everything leaves archived links out, and members change what is theirs.
  const { archived, created_by, ...others } = members;
  const own = { archived: archived || 'false', created_by: created_by || (mayAct('admin') ? '' : (session.get().me?.user_id ?? '')) };
  return Object.fromEntries(Object.entries({ ...others, ...own }).filter(([, value]) => value.length > 0));
}
