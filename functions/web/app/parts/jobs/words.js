// Jobs in words: what is done to many links, to which ones, how far it has come, and how it has ended.

import { html } from '../../vendor/preact.js';
import { counted, day, number } from '../../core/format.js';
import { wordsFor } from '../../core/words.js';

/** @typedef {'tag' | 'untag' | 'rename_tag' | 'switch_off' | 'switch_on' | 'archive' | 'unarchive' | 'delete' | 'purge' | 'set_expiry'} JobKind */
/** @typedef {'queued' | 'running' | 'cancelling' | 'done' | 'failed' | 'cancelled'} JobState */

/**
 * Which links: all, or as the parameters of `GET /api/links`.
 * @typedef {{ all?: boolean, search?: string, tag?: string[], created_by?: string, status?: string, archived?: string | boolean, created_after?: string, created_before?: string, tz?: string, external_id?: string }} JobFilter
 */

/** What is to be done, as `POST /api/jobs` wants it. @typedef {{ kind: JobKind, filter?: JobFilter, tag?: string, from?: string, to?: string, expires_at?: string | null }} JobBody */

/** @typedef {{ short_code: string, code: string, detail: string }} JobFailure */

/**
 * @typedef {JobBody & {
 *   id: string,
 *   state: JobState,
 *   expected: number | null,
 *   seen: number,
 *   changed: number,
 *   failed: number,
 *   failures: JobFailure[],
 *   reason: { code: string, detail: string } | null,
 *   created_by: string,
 *   created_by_name: string | null,
 *   created_at: string,
 *   started_at: string | null,
 *   ended_at: string | null,
 * }} Job
 */

/** Text, and between it what people have written. @typedef {(string | { theirs: string })[]} Phrase */

/** @param {string | undefined} text */
const theirs = (text) => [{ theirs: text ?? '' }];

/** @param {TemplateStringsArray} texts @param {(string | Phrase)[]} values @returns {Phrase} */
const phrase = (texts, ...values) => texts.flatMap((text, at) => [text, ...[values[at] ?? []].flat()]);

/** @param {Phrase} words */
export const plain = (words) => words.map((part) => (typeof part === 'string' ? part : `“${part.theirs}”`)).join('');

/** @param {{ of: Phrase }} props */
export const Words = ({ of: words }) => html`${words.map((part) => (typeof part === 'string' ? part : html`“<bdi>${part.theirs}</bdi>”`))}`;

/**
 * @typedef {object} KindWords
 * @property {(job: JobBody, links: string) => Phrase} title what is done to the links
 * @property {string} action what the button says that begins it
 * @property {string} past what `12 links` did
 * @property {string} [effect] what that means, if it doesn't go without saying
 * @property {boolean} [isDanger] whether links are lost, so that one types how many
 */

/** @type {Record<JobKind, KindWords>} */
const KINDS = {
  tag: { title: ({ tag }, links) => phrase`Add the tag ${theirs(tag)} to ${links}`, action: 'Tag', past: 'tagged' },
  untag: { title: ({ tag }, links) => phrase`Remove the tag ${theirs(tag)} from ${links}`, action: 'Untag', past: 'untagged' },
  rename_tag: { title: ({ from, to }) => phrase`Rename the tag ${theirs(from)} to ${theirs(to)}`, action: 'Retag', past: 'retagged' },
  switch_off: { title: (_, links) => phrase`Disable ${links}`, action: 'Disable', past: 'disabled', effect: 'Visitors see that they’re disabled.' },
  switch_on: { title: (_, links) => phrase`Enable ${links}`, action: 'Enable', past: 'enabled' },
  archive: { title: (_, links) => phrase`Archive ${links}`, action: 'Archive', past: 'archived', effect: 'They still work.' },
  unarchive: { title: (_, links) => phrase`Unarchive ${links}`, action: 'Unarchive', past: 'unarchived' },
  delete: { title: (_, links) => phrase`Delete ${links}`, action: 'Delete', past: 'deleted', effect: 'They stop working for good. Their statistics stay.', isDanger: true },
  purge: {
    title: (_, links) => phrase`Delete ${links} with their statistics`,
    action: 'Delete',
    past: 'deleted with statistics',
    effect: 'The links and their statistics will be lost. This can’t be undone.',
    isDanger: true,
  },
  set_expiry: {
    title: ({ expires_at: at }, links) => (at ? phrase`Set ${links} to expire on ${day(at)}` : phrase`Set ${links} to never expire`),
    action: 'Change',
    past: 'updated',
  },
};

/** @type {KindWords} */
const UNKNOWN_KIND = { title: (_, links) => phrase`Change ${links}`, action: 'Change', past: 'changed' };

/** A newer Linklet may have others. @param {JobBody} job */
const wordsOf = ({ kind }) => KINDS[kind] ?? UNKNOWN_KIND;

/** `Archive links` @param {JobBody} job */
export const titleOf = (job) => wordsOf(job).title(job, 'links');

/**
 * What is asked before it is begun.
 * @param {JobBody} job
 * @param {{ matching: number, is_exact: boolean }} count
 * @param {boolean} isForOwn whether only links of the person are changed
 * @returns {import('../../ui/dialog.js').Question}
 */
export function questionOf(job, { matching, is_exact }, isForOwn) {
  const { title, action, effect, isDanger = false } = wordsOf(job);
  const links = `${is_exact ? '' : 'at least '}${counted(matching, 'link')}`;
  const texts = [effect, isForOwn && 'Only your own links are changed.', 'This takes a while and continues if you leave this page.'];
  return {
    title: `${plain(title(job, links))}?`,
    text: texts.filter(Boolean).join(' '),
    action: `${action} ${number(matching)}`,
    isDanger,
    typed: isDanger ? number(matching) : undefined,
  };
}

/** @type {Record<JobState, { word: string, tone: 'good' | 'warn' | 'bad' | 'muted' }>} */
export const STATES = {
  queued: { word: 'Queued', tone: 'muted' },
  running: { word: 'Running', tone: 'good' },
  cancelling: { word: 'Stopping', tone: 'warn' },
  done: { word: 'Done', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
  cancelled: { word: 'Stopped', tone: 'muted' },
};

/** @param {Pick<Job, 'state'>} job */
export const isOver = ({ state }) => state === 'done' || state === 'failed' || state === 'cancelled';

/**
 * How far it has come, of so many; nothing if nobody knows.
 * @param {Pick<Job, 'state' | 'seen' | 'expected'>} job
 * @returns {{ value: number, most: number } | undefined}
 */
export function shareOf({ state, seen, expected }) {
  if (!expected || state === 'queued') return undefined;
  // Links that were there when it was asked for may have come to match since.
  return { value: Math.min(seen, expected), most: expected };
}

/** `1,150 of 4,213 changed` @param {Job} job @param {number} ahead how many others come before it, while it waits */
export function progressOf(job, ahead) {
  if (job.state === 'queued') return ahead > 0 ? `Waiting for ${counted(ahead, 'other')}` : 'Starting soon';
  const share = shareOf(job);
  const failed = job.failed > 0 ? `, ${number(job.failed)} failed` : '';
  return `${number(job.changed)} ${share ? `of ${number(Math.max(share.most, job.changed))} ` : ''}changed${failed}`;
}

/** @type {Record<string, string>} */
const REASONS = {
  rights_lost: 'The member who started it can no longer change links.',
  no_progress: 'It stopped making progress.',
};

/** How it has ended. @param {Job} job */
export function endOf(job) {
  const { state, changed, failed, started_at, reason } = job;
  const links = `${changed === 0 ? 'No links' : counted(changed, 'link')} ${wordsOf(job).past}`;
  const not = failed > 0 && `${counted(failed, 'link')} couldn’t be changed.`;
  const why = reason && (REASONS[reason.code] ?? wordsFor(reason.code, reason.detail));
  /** @type {Record<string, unknown[]>} */
  const sentences = {
    failed: [why, `${links} before that.`, not],
    cancelled: started_at ? ['Stopped.', `${links} before that.`, not] : ['Stopped before it started.'],
    done: changed + failed === 0 ? ['Nothing to change.'] : [changed > 0 && `${links}.`, not],
  };
  return (sentences[state] ?? []).filter(Boolean).join(' ');
}

/** @param {JobFailure} failure */
export const failureWords = ({ code, detail }) => wordsFor(code, detail);

/** @type {Record<string, string>} */
const STATUSES = { active: 'active', inactive: 'disabled', scheduled: 'scheduled', exhausted: 'at their click limit', expired: 'expired', suspended: 'suspended', deleted: 'deleted' };

/**
 * The tags of a parameter `tag`: commas separate those of which one is enough, or with `-` before them none is wanted, and a backslash takes
 * their meaning from both.
 * @param {string} term
 * @returns {Phrase}
 */
function tagWords(term) {
  const isOut = term.startsWith('-');
  const tags = term.slice(isOut ? 1 : 0).match(/(?:\\.|[^\\,])+/gs) ?? [];
  const names = tags.map((tag) => tag.trim().replace(/\\(.)/gs, '$1'));
  return phrase`${isOut ? 'without' : 'with'} the tag ${names.flatMap((name, at) => (at > 0 ? [' or ', ...theirs(name)] : theirs(name)))}`;
}

/**
 * Which links a job is for; nothing if its title says so.
 * @param {JobFilter | undefined} filter
 * @param {string} [creator] what the one is called whose links they are
 * @returns {Phrase}
 */
export function filterWords(filter, creator = 'one person') {
  if (!filter) return [];
  const { search, tag = [], created_by, status, archived, created_after, created_before, external_id } = filter;
  const terms = [
    ...tag.map(tagWords),
    search && phrase`that contain ${theirs(search)}`,
    status && [STATUSES[status] ?? status],
    external_id && phrase`with the external ID ${theirs(external_id)}`,
    created_by && phrase`created by ${creator}`,
    created_after && [`created since ${day(created_after)}`],
    created_before && [`created until ${day(created_before)}`],
    String(archived) === 'all' && ['including archived ones'],
  ].filter((term) => typeof term === 'object');
  const links = String(archived) === 'true' ? 'Archived links' : terms.length > 0 ? 'Links' : 'All links';
  return [links, ...terms.flatMap((term, at) => [at > 0 ? ', ' : ' ', ...term])];
}
