// What is done to selected links. It says how many went well and which didn't, and can be undone where that is possible.

import { call } from '../../core/api.js';
import { counted, momentInText, number } from '../../core/format.js';
import { noteChange } from '../../core/lists.js';
import { ask } from '../../ui/dialog.js';
import { toast } from '../../ui/toast.js';
import { sendAll } from '../bulk/bulk.js';
import { forgetNumbers, noteDeleted } from '../link-changes/link-changes.js';
import { clicksOf, typedFor } from '../link-changes/loss.js';
import { codesOf, sameFor, tagsBack, tagsOf, valueBack } from './undo.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {import('../../pages/links/link-list.js').LinkList} LinkList */
/** @typedef {import('../bulk/bulk.js').Tell} Tell */
/** @typedef {import('../bulk/bulk.js').Outcome<Link>} Outcome */
/** @typedef {import('./undo.js').Step} Step */

const NAMED_FAILURES = 3;

/** @param {Link[]} links @param {import('./undo.js').TagChange} change @param {LinkList} list @param {Tell} tell */
export function tagMany(links, change, list, tell) {
  const step = sameFor(links, tagsOf(change.add, change.remove));
  return changeMany(step, (count) => `Tags for ${count} changed.`, (before) => tagsBack(before, change), list, tell);
}

/** @param {Link[]} links @param {boolean} archived @param {LinkList} list @param {Tell} tell */
export const archiveMany = (links, archived, list, tell) => setMany(links, 'archived', archived, archived ? 'archived' : 'unarchived', list, tell);

/** @param {Link[]} links @param {boolean} isActive @param {LinkList} list @param {Tell} tell */
export const switchMany = (links, isActive, list, tell) => setMany(links, 'is_active', isActive, isActive ? 'enabled' : 'disabled', list, tell);

/** @param {Link[]} links @param {string | null} expiry @param {LinkList} list @param {Tell} tell */
export const expireMany = (links, expiry, list, tell) => setMany(links, 'expires_at', expiry, expiry ? `set to expire ${momentInText(expiry)}` : 'set to never expire', list, tell);

/**
 * @param {Link[]} links
 * @param {'archived' | 'is_active' | 'expires_at'} name
 * @param {unknown} value
 * @param {string} done what they are then
 * @param {LinkList} list
 * @param {Tell} tell
 */
const setMany = (links, name, value, done, list, tell) =>
  changeMany(sameFor(links, { set: { [name]: value } }), (count) => `${count} ${done}.`, (before) => valueBack(before, name, value), list, tell);

/** @param {Link[]} links @param {LinkList} list @param {Tell} tell */
export function deleteMany(links, list, tell) {
  const question = { title: `Delete ${counted(links.length, 'link')}?`, text: `They stop working for good. Their statistics (${clicksOf(links)}) stay.` };
  const show = (/** @type {string[]} */ codes) => list.changeAll(new Map(codes.map((code) => [code, { is_active: false, status: 'deleted' }])));
  return takeAway(links, question, {}, 'deleted', show, tell);
}

/** @param {Link[]} links @param {LinkList} list @param {Tell} tell */
export function purgeMany(links, list, tell) {
  const question = { title: `Delete ${counted(links.length, 'link')} with statistics?`, text: `The links and their statistics (${clicksOf(links)}) will be lost. This can’t be undone.` };
  return takeAway(links, question, { purge: true }, 'deleted with statistics', (codes) => list.remove(...codes), tell);
}

/**
 * @param {Link[]} links
 * @param {{ title: string, text: string }} question
 * @param {{ purge?: boolean }} query
 * @param {string} done what they are then
 * @param {(codes: string[]) => void} show shows which of them are
 * @param {Tell} tell
 */
async function takeAway(links, question, query, done, show, tell) {
  if (!(await ask({ ...question, action: `Delete ${number(links.length)}`, isDanger: true, typed: typedFor(links) }))) return false;
  const outcomes = await sendAll(links, (some) => call('DELETE /api/links/bulk', { query: { codes: codesOf(some).join(), ...query } }), { tell });
  const taken = wentWell(outcomes);
  for (const link of taken) (query.purge ? noteChange : noteDeleted)(link);
  const codes = codesOf(taken);
  show(codes);
  finish(`${counted(codes.length, 'link')} ${done}.`, outcomes);
  return true;
}

/**
 * @param {Step} step
 * @param {(count: string) => string} words what was done to so many links
 * @param {(before: Link[]) => Step[]} back what takes it back for these, as they were before
 * @param {LinkList} list
 * @param {Tell} tell
 */
async function changeMany(step, words, back, list, tell) {
  const outcomes = await patch(step, list, tell);
  const changed = wentWell(outcomes);
  const steps = back(changed);
  finish(words(counted(changed.length, 'link')), outcomes, steps.length > 0 ? [{ label: 'Undo', act: () => void undo(steps, list) }] : []);
  return true;
}

/** @param {Step[]} steps @param {LinkList} list */
async function undo(steps, list) {
  const outcomes = [];
  for (const step of steps) outcomes.push(...(await patch(step, list)));
  finish(`Undone for ${counted(wentWell(outcomes).length, 'link')}.`, outcomes);
}

/** @param {Step} step @param {LinkList} list @param {Tell} [tell] */
async function patch({ links, bodyOf }, list, tell) {
  const outcomes = await sendAll(links, (some) => call('PATCH /api/links/bulk', { body: bodyOf(some) }), { tell });
  // Before it is undone, a link is what it was changed to.
  const shown = new Map(list.links.map((link) => [link.short_code, link]));
  for (const { thing, link } of outcomes) if (link) noteChange(shown.get(thing.short_code) ?? thing, link);
  list.changeAll(new Map(outcomes.flatMap(({ thing, link }) => (link ? [[thing.short_code, link]] : []))));
  return outcomes;
}

/** The links as they were before. @param {Outcome[]} outcomes */
const wentWell = (outcomes) => outcomes.flatMap(({ thing, error }) => (error ? [] : [thing]));

/** @param {string} text what went well @param {Outcome[]} outcomes @param {import('../../ui/toast.js').ToastAction[]} [actions] */
function finish(text, outcomes, actions = []) {
  forgetNumbers();
  const failed = outcomes.filter(({ error }) => error);
  if (failed.length === 0) return toast(text, { actions });
  const names = codesOf(failed.slice(0, NAMED_FAILURES).map(({ thing }) => thing)).join(', ');
  const more = failed.length > NAMED_FAILURES ? ` and ${number(failed.length - NAMED_FAILURES)} more` : '';
  toast(`${text} Failed: ${names}${more}. ${failed[0].error?.message}`, { tone: 'bad', actions });
}
