// Whether a job is about a tag as a whole.

import { isSame } from '../../core/folding.js';

/** @typedef {import('./words.js').Job} Job */

/** The tag that a job takes away, or gives another name. @param {Job} job */
export const subjectOf = ({ kind, from, tag }) => (kind === 'rename_tag' ? from : tag);

/** A tag as it stands in a filter, too, which has backslashes before some characters. @param {unknown} tag */
const unescaped = (tag) => String(tag).replaceAll('\\', '');

/** Whether a job is about all links with the tag, and not about some. @param {Job} job */
export function isOfWholeTag(job) {
  if (job.kind !== 'rename_tag' && job.kind !== 'untag') return false;
  const { all, archived, tag, ...others } = job.filter ?? { all: true };
  const isAll = all === true || isSame(unescaped(tag), unescaped(subjectOf(job)));
  return isAll && archived !== 'true' && Object.keys(others).length === 0;
}
