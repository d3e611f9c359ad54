// What is done to one link or to many: shown at once, and taken back if the server refuses.

import { call } from '../../core/api.js';
import { counted, number } from '../../core/format.js';
import { invalidate } from '../../core/resource.js';
import { ask } from '../../ui/dialog.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { clicksOf, typedFor } from './loss.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** What shows links: a list, or the page of one. @typedef {Pick<import('../../pages/links/link-list.js').LinkList, 'change' | 'remove'>} LinkList */

const AT_ONCE = 4;
const NAMED_FAILURES = 3;

function forgetNumbers() {
  invalidate('overview');
  invalidate('tags');
}

/** @param {Link} link @param {LinkList} list */
export async function toggle(link, list) {
  const isActive = !link.is_active;
  list.change(link.short_code, { is_active: isActive, status: isActive ? 'active' : 'inactive' });
  try {
    const changed = await call('PATCH /api/links/{code}', { path: { code: link.short_code }, body: { is_active: isActive } });
    list.change(link.short_code, changed);
    const undo = { label: 'Undo', act: () => void toggle({ ...link, is_active: isActive }, list) };
    toast(isActive ? 'Switched on.' : 'Switched off: visitors see that it is.', { actions: [undo] });
    forgetNumbers();
  } catch (error) {
    list.change(link.short_code, link);
    toastFailure('The link wasn’t changed.', error);
  }
}

/** Takes the link out of use for good; its numbers stay. @param {Link} link @param {LinkList} list */
export async function deleteLink(link, list) {
  const question = {
    title: `Delete ${link.short_code}?`,
    text: `It stops working for good. Its statistics (${clicksOf([link])}) stay.`,
    action: 'Delete',
    isDanger: true,
    typed: typedFor([link]),
  };
  if (!(await ask(question))) return;
  list.change(link.short_code, { is_active: false, status: 'deleted' });
  try {
    await call('DELETE /api/urls/{code}', { path: { code: link.short_code } });
    toast('Link deleted.');
    forgetNumbers();
  } catch (error) {
    list.change(link.short_code, link);
    toastFailure('The link wasn’t deleted.', error);
  }
}

/** Removes the link with its numbers. @param {Link} link @param {LinkList} list */
export async function purgeLink(link, list) {
  const question = {
    title: `Delete ${link.short_code} with its statistics?`,
    text: `The link and its statistics (${clicksOf([link])}) will be lost. This can’t be undone.`,
    action: 'Delete with statistics',
    isDanger: true,
    typed: typedFor([link]),
  };
  if (!(await ask(question))) return;
  try {
    await call('DELETE /api/links/{code}', { path: { code: link.short_code } });
    list.remove(link.short_code);
    toast('Link deleted, with its statistics.');
    forgetNumbers();
  } catch (error) {
    toastFailure('The link wasn’t deleted.', error);
  }
}

/** @param {Link[]} links @param {string[]} tags @param {LinkList} list @param {Progress} progress */
export function tagMany(links, tags, list, progress) {
  const change = (/** @type {Link} */ link) => {
    const taken = link.tags.map((tag) => tag.toLowerCase());
    const all = [...link.tags, ...tags.filter((tag) => !taken.includes(tag.toLowerCase()))];
    return call('PATCH /api/links/{code}', { path: { code: link.short_code }, body: { tags: all } });
  };
  return many(links, 'tagged', change, list, progress);
}

/** @param {Link[]} links @param {LinkList} list @param {Progress} progress */
export async function switchOffMany(links, list, progress) {
  const question = { title: `Switch off ${counted(links.length, 'link')}?`, text: 'They lead nowhere until you switch them on again.', action: 'Switch off' };
  if (!(await ask(question))) return false;
  const change = (/** @type {Link} */ link) => call('PATCH /api/links/{code}', { path: { code: link.short_code }, body: { is_active: false } });
  return many(links, 'switched off', change, list, progress);
}

/** @param {Link[]} links @param {LinkList} list @param {Progress} progress */
export async function deleteMany(links, list, progress) {
  const question = {
    title: `Delete ${counted(links.length, 'link')}?`,
    text: `They stop working for good. Their statistics (${clicksOf(links)}) stay.`,
    action: `Delete ${number(links.length)}`,
    isDanger: true,
    typed: typedFor(links),
  };
  if (!(await ask(question))) return false;
  const change = async (/** @type {Link} */ link) => {
    await call('DELETE /api/urls/{code}', { path: { code: link.short_code } });
    return { is_active: false, status: /** @type {const} */ ('deleted') };
  };
  return many(links, 'deleted', change, list, progress);
}

/** @typedef {(done: number, all: number) => void} Progress */

/**
 * Changes links, a few at a time, and says how many went well and which didn't.
 * @param {Link[]} links
 * @param {string} done what they are then
 * @param {(link: Link) => Promise<Partial<Link>>} change
 * @param {LinkList} list
 * @param {Progress} progress
 */
async function many(links, done, change, list, progress) {
  const waiting = [...links];
  /** @type {{ link: Link, error: unknown }[]} */
  const failed = [];
  let count = 0;
  const work = async () => {
    for (let link = waiting.shift(); link; link = waiting.shift()) {
      try {
        list.change(link.short_code, await change(link));
      } catch (error) {
        failed.push({ link, error });
      }
      progress((count += 1), links.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  forgetNumbers();
  const right = links.length - failed.length;
  if (failed.length === 0) toast(`${counted(right, 'link')} ${done}.`);
  else toast(`${counted(right, 'link')} ${done}. ${explained(failed)}`, { tone: 'bad' });
  return true;
}

/** @param {{ link: Link, error: unknown }[]} failed */
function explained(failed) {
  const names = failed.slice(0, NAMED_FAILURES).map(({ link }) => link.short_code).join(', ');
  const more = failed.length > NAMED_FAILURES ? ` and ${number(failed.length - NAMED_FAILURES)} more` : '';
  const [{ error }] = failed;
  return `Not ${names}${more}: ${error instanceof Error ? error.message : 'unknown'}`;
}
