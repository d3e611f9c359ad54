// What is done to a link: shown at once, and taken back if the server refuses.

import { call } from '../../core/api.js';
import { noteChange } from '../../core/lists.js';
import { invalidate } from '../../core/resource.js';
import { ask } from '../../ui/dialog.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { clicksOf, typedFor } from './loss.js';

export { rememberTags, useOverview, useTagList, useTagNames, useTags } from './counts.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** What shows links: a list, or the page of one. @typedef {Pick<import('../../pages/links/link-list.js').LinkList, 'change' | 'remove'>} LinkList */

/**
 * The status of a link once it is switched on or off: what is over or suspended stays so.
 * @param {Link} link
 * @param {boolean} isActive
 * @returns {Link['status']}
 */
export function statusIf({ status, valid_from }, isActive) {
  if (['deleted', 'expired', 'exhausted', 'suspended'].includes(status)) return status;
  if (!isActive) return 'inactive';
  return valid_from && Date.parse(valid_from) > Date.now() ? 'scheduled' : 'active';
}

/** @param {Link} link */
export function noteDeleted(link) {
  const { tags, archived, total_clicks } = link;
  noteChange(link, { tags, archived, total_clicks, status: 'deleted' });
}

export function forgetNumbers() {
  invalidate('overview');
  invalidate('tags');
}

/** Switches the link on or off. @param {Link} link @param {LinkList} list */
export function toggle(link, list) {
  const is_active = !link.is_active;
  const status = statusIf(link, is_active);
  const text = is_active ? 'Link enabled.' : 'Link disabled.';
  return turn(link, list, { is_active }, { is_active, status }, text, toggle);
}

/** Puts the link away, or brings it back. @param {Link} link @param {LinkList} list */
export function archive(link, list) {
  const archived = !link.archived;
  return turn(link, list, { archived }, { archived }, archived ? 'Link archived. It still works.' : 'Link unarchived.', archive);
}

/**
 * @param {Link} link
 * @param {LinkList} list
 * @param {object} body
 * @param {Partial<Link>} shown how it is shown meanwhile
 * @param {string} text
 * @param {(link: Link, list: LinkList) => Promise<void>} back what takes it back
 */
async function turn(link, list, body, shown, text, back) {
  list.change(link.short_code, shown);
  try {
    const changed = await call('PATCH /api/links/{code}', { path: { code: link.short_code }, body });
    list.change(link.short_code, changed);
    noteChange(link, changed);
    toast(text, { actions: [{ label: 'Undo', act: () => void back(changed, list) }] });
    forgetNumbers();
  } catch (error) {
    list.change(link.short_code, link);
    toastFailure('Couldn’t change the link.', error);
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
    noteDeleted(link);
    toast('Link deleted.');
    forgetNumbers();
  } catch (error) {
    list.change(link.short_code, link);
    toastFailure('Couldn’t delete the link.', error);
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
    noteChange(link);
    list.remove(link.short_code);
    toast('Link deleted with its statistics.');
    forgetNumbers();
  } catch (error) {
    toastFailure('Couldn’t delete the link.', error);
  }
}
