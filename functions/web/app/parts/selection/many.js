// What is done to many links, a few at a time. It says how many went well and which didn't, and can be undone where that is possible.

import { ApiError, call } from '../../core/api.js';
import { counted, number } from '../../core/format.js';
import { ask } from '../../ui/dialog.js';
import { toast } from '../../ui/toast.js';
import { forgetNumbers } from '../link-changes/link-changes.js';
import { clicksOf, typedFor } from '../link-changes/loss.js';
import { retagged, tagsBack } from './retagged.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {import('../../pages/links/link-list.js').LinkList} LinkList */
/** @typedef {import('./retagged.js').TagChange} TagChange */
/** @typedef {(done: number, all: number) => void} Progress */
/** @typedef {{ before: Link, after: Link, tag: string | undefined }} Edit a link before and after a change, and its `ETag` since */
/** @typedef {(now: Link, before: Link, after: Link) => object | undefined} Back what takes a change back, whatever else has changed since; nothing if that is so already */

const AT_ONCE = 4;
const NAMED_FAILURES = 3;
const ATTEMPTS = 3;
const STALE = 412;

/** @param {Link[]} links @param {TagChange} change @param {LinkList} list @param {Progress} progress */
export function tagMany(links, change, list, progress) {
  // All tags of a link are replaced, so they are read first: somebody else may have added some.
  const edit = (/** @type {Link} */ link) => changed(link.short_code, (now) => bodyOf(now, retagged(now.tags, change)));
  return changeMany(links, (count) => `Tags of ${count} changed.`, edit, (now, before, after) => bodyOf(now, tagsBack(now.tags, before.tags, after.tags)), list, progress);
}

/** @param {Link} link @param {string[]} tags */
const bodyOf = (link, tags) => (tags.join('\n') === link.tags.join('\n') ? undefined : { tags });

/** @param {Link[]} links @param {boolean} archived @param {LinkList} list @param {Progress} progress */
export const archiveMany = (links, archived, list, progress) => setMany(links, { archived }, archived ? 'archived' : 'brought back', list, progress);

/** @param {Link[]} links @param {boolean} is_active @param {LinkList} list @param {Progress} progress */
export const switchMany = (links, is_active, list, progress) => setMany(links, { is_active }, is_active ? 'switched on' : 'switched off', list, progress);

/**
 * Sets a member that is true or false.
 * @param {Link[]} links those that have it otherwise
 * @param {{ archived: boolean } | { is_active: boolean }} body
 * @param {string} done what they are then
 * @param {LinkList} list
 * @param {Progress} progress
 */
function setMany(links, body, done, list, progress) {
  const name = /** @type {'archived' | 'is_active'} */ (Object.keys(body)[0]);
  const edit = (/** @type {Link} */ link) => changed(link.short_code, () => body, { body: link, tag: undefined });
  return changeMany(links, (count) => `${count} ${done}.`, edit, (now, before) => (now[name] === before[name] ? undefined : { [name]: before[name] }), list, progress);
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
  const failed = await each(links, async (link) => {
    await call('DELETE /api/urls/{code}', { path: { code: link.short_code } });
    list.change(link.short_code, { is_active: false, status: 'deleted' });
  }, progress);
  report(`${counted(links.length - failed.length, 'link')} deleted.`, failed);
  return true;
}

/**
 * @param {Link[]} links
 * @param {(count: string) => string} words what was done to so many links
 * @param {(link: Link) => Promise<Edit>} edit
 * @param {Back} back
 * @param {LinkList} list
 * @param {Progress} progress
 */
async function changeMany(links, words, edit, back, list, progress) {
  /** @type {Edit[]} */
  const edits = [];
  const failed = await each(links, async (link) => {
    const edited = await edit(link);
    list.change(link.short_code, edited.after);
    if (edited.after !== edited.before) edits.push(edited);
  }, progress);
  const actions = edits.length > 0 ? [{ label: 'Undo', act: () => void undo(edits, back, list) }] : [];
  report(words(counted(links.length - failed.length, 'link')), failed, actions);
  return true;
}

/** @param {Edit[]} edits @param {Back} back @param {LinkList} list */
async function undo(edits, back, list) {
  const failed = await each(edits.map(({ after }) => after), async (link) => {
    const { before, after, tag } = /** @type {Edit} */ (edits.find((edit) => edit.after === link));
    const undone = await changed(link.short_code, (now) => back(now, before, after), { body: after, tag });
    list.change(link.short_code, undone.after);
  });
  report(`Undone for ${counted(edits.length - failed.length, 'link')}.`, failed);
}

/**
 * Changes a link as it is: if somebody else has changed it since it was read, it is read again.
 * @param {string} code
 * @param {(now: Link) => object | undefined} bodyFor nothing if there is nothing to change
 * @param {import('../../core/api.js').Tagged<Link>} [known] what was read of it; without an `ETag`, it is changed in any case
 * @returns {Promise<Edit>}
 */
async function changed(code, bodyFor, known) {
  const path = { code };
  for (let attempt = 1; ; attempt += 1) {
    const { body: before, tag } = (attempt === 1 && known) || (await call('GET /api/links/{code}', { path, tagged: true }));
    const body = bodyFor(before);
    if (!body) return { before, after: before, tag };
    try {
      const { body: after, tag: next } = await call('PATCH /api/links/{code}', { path, body, ifMatch: tag, tagged: true });
      return { before, after, tag: next };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== STALE || attempt === ATTEMPTS) throw error;
    }
  }
}

/** @typedef {{ link: Link, error: unknown }} Failed */

/** @param {Link[]} links @param {(link: Link) => Promise<void>} act @param {Progress} [progress] */
async function each(links, act, progress) {
  const waiting = [...links];
  /** @type {Failed[]} */
  const failed = [];
  let count = 0;
  const work = async () => {
    for (let link = waiting.shift(); link; link = waiting.shift()) {
      try {
        await act(link);
      } catch (error) {
        failed.push({ link, error });
      }
      progress?.((count += 1), links.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  forgetNumbers();
  return failed;
}

/** @param {string} text what went well @param {Failed[]} failed @param {import('../../ui/toast.js').ToastAction[]} [actions] */
function report(text, failed, actions = []) {
  if (failed.length === 0) return toast(text, { actions });
  const names = failed.slice(0, NAMED_FAILURES).map(({ link }) => link.short_code).join(', ');
  const more = failed.length > NAMED_FAILURES ? ` and ${number(failed.length - NAMED_FAILURES)} more` : '';
  const [{ error }] = failed;
  toast(`${text} Not ${names}${more}: ${error instanceof Error ? error.message : 'unknown'}`, { tone: 'bad', actions });
}
