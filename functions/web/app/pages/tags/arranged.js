// Which tags are shown, and in which order.

import { isSame, searched } from '../../core/folding.js';
import { isOfWholeTag, subjectOf } from '../../parts/jobs/same-tag.js';

/** @typedef {import('../../core/lists.js').TagCount} TagCount */
/** @typedef {import('../../parts/jobs/words.js').Job} Job */
/** What is known of a tag: after it was merged with another one, not how many links and clicks both have. @typedef {{ tag: string, links?: number, total_clicks?: number }} ShownTag */

export const SORTS = [
  { value: 'links', label: 'Most links' },
  { value: 'clicks', label: 'Most clicks' },
  { value: 'name', label: 'Name' },
];

/** The other tag that a new name already is, with which the tag would be merged. @param {ShownTag[]} tags @param {string} tag @param {string} name */
export const otherNamed = (tags, tag, name) => (isSame(tag, name) ? undefined : tags.find((one) => isSame(one.tag, name)));

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/**
 * @template {ShownTag} T
 * @param {T[]} tags
 * @param {{ text: string, sort: string }} wanted
 * @returns {T[]}
 */
export function arranged(tags, { text, sort }) {
  const wanted = searched(text);
  const found = tags.filter(({ tag }) => searched(tag).includes(wanted));
  const size = (/** @type {ShownTag} */ { links, total_clicks }) => (sort === 'name' ? 0 : (sort === 'clicks' ? total_clicks : links) ?? 0);
  return found.sort((a, b) => size(b) - size(a) || byName.compare(a.tag, b.tag));
}

/** What is being done to a tag. @param {Job[]} jobs @param {string} tag */
export function underWay(jobs, tag) {
  const job = jobs.find((one) => isOfWholeTag(one) && ['queued', 'running'].includes(one.state) && isSame(subjectOf(one), tag));
  return job && (job.kind === 'rename_tag' ? 'Renaming' : 'Deleting');
}

/** Whether links have changed since tags were counted. @param {Job[]} jobs @param {string} asOf */
export const isBehind = (jobs, asOf) => jobs.some(({ changed, ended_at }) => changed > 0 && ended_at !== null && ended_at > asOf);

/**
 * The tags after what jobs have done to all links since they were counted, which is once a minute.
 * @param {TagCount[]} tags
 * @param {string} asOf
 * @param {Job[]} jobs those of somebody who may change all links
 * @returns {ShownTag[]}
 */
export function afterJobs(tags, asOf, jobs) {
  const done = jobs.filter((job) => isOfWholeTag(job) && job.state === 'done' && job.failed === 0 && job.ended_at !== null && job.ended_at > asOf);
  return done.sort((a, b) => String(a.ended_at).localeCompare(String(b.ended_at))).reduce(afterJob, /** @type {ShownTag[]} */ (tags));
}

/** @param {ShownTag[]} tags @param {Job} job @returns {ShownTag[]} */
function afterJob(tags, job) {
  const subject = tags.find(({ tag }) => isSame(subjectOf(job), tag));
  if (!subject) return tags;
  const others = tags.filter((one) => one !== subject);
  if (job.kind === 'untag') return others;
  const name = job.to ?? '';
  const isMerged = others.some(({ tag }) => isSame(tag, name));
  if (!isMerged) return [...others, { ...subject, tag: name }];
  return others.map((one) => (isSame(one.tag, name) ? { tag: one.tag } : one));
}
