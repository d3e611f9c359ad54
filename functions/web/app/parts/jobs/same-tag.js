// Whether two texts are one tag, and whether a job is about a tag as a whole.

/** @typedef {import('./words.js').Job} Job */

/** What is the same of a tag however it is written. @param {string} tag */
export const folded = (tag) => tag.trim().normalize('NFC').toLowerCase();

/** @param {string | undefined} one @param {string} other */
export const isSameTag = (one, other) => one !== undefined && folded(one) === folded(other);

/** The tag that a job takes away, or gives another name. @param {Job} job */
export const subjectOf = ({ kind, from, tag }) => (kind === 'rename_tag' ? from : tag);

/** A tag as it stands in a filter, too, which has backslashes before some characters. @param {unknown} tag */
const unescaped = (tag) => String(tag).replaceAll('\\', '');

/** Whether a job is about all links with the tag, and not about some. @param {Job} job */
export function isOfWholeTag(job) {
  if (job.kind !== 'rename_tag' && job.kind !== 'untag') return false;
  const { all, archived, tag, ...others } = job.filter ?? { all: true };
  const isAll = all === true || isSameTag(unescaped(tag), unescaped(subjectOf(job)));
  return isAll && archived !== 'true' && Object.keys(others).length === 0;
}
