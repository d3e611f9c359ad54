// What was done, in words. A sentence stands beside the name of who has done it.

import { html } from '../../vendor/preact.js';
import { href } from '../../core/router.js';
import { withArticle } from '../../core/words.js';

/** @typedef {{ kind: 'person' | 'key' | 'operator' | 'linklet', user_id: string | null, name: string | null, key_prefix: string | null }} Actor */
/** @typedef {{ kind: 'member' | 'invitation' | 'key' | 'workspace' | 'link' | 'share' | 'target' | 'job' | 'account' | 'session', id: string, name?: string | null }} Subject */

/**
 * One thing that was done, as `GET /api/me/audit` and `GET /api/workspace/audit` have it.
 * @typedef {object} AuditEntry
 * @property {string} id
 * @property {string} at
 * @property {Actor} actor
 * @property {string} action
 * @property {Subject | null} subject
 * @property {string | null} from
 * @property {string | null} to
 * @property {string | null} device
 * @property {string | null} country
 * @property {string | null} address_hash the same for all that came from one network
 * @property {string} correlation_id
 */

/** `{}` stands for what it was done to. What it was before and became is told behind it. @type {Record<string, string>} */
export const ACTIONS = {
  'workspace.created': 'Created the workspace',
  'workspace.changed': 'Changed the workspace',
  'workspace.closed': 'Closed the workspace',
  'workspace.restored': 'Restored the workspace',
  'member.joined': 'Joined the workspace',
  'member.role_changed': 'Changed the role of {}',
  'member.resumed': 'Kept {} as a member',
  'member.paused': 'Paused the membership of {}',
  'member.removed': 'Removed {}',
  'member.left': 'Left the workspace',
  'invitation.created': 'Invited someone',
  'invitation.withdrawn': 'Withdrew an invitation',
  'key.created': 'Created the API key {}',
  'key.changed': 'Changed the API key {}',
  'key.paused': 'Paused the API key {}',
  'key.resumed': 'Resumed the API key {}',
  'key.rotated': 'Rotated the API key {}',
  'key.kept': 'Kept the API key {}',
  'key.revoked': 'Revoked the API key {}',
  'link.changed': 'Changed the link {}',
  'link.suspended': 'Suspended the link {}',
  'link.resumed': 'Unsuspended the link {}',
  'link.deleted': 'Deleted the link {}',
  'link.purged': 'Deleted the link {} with its statistics',
  'share.created': 'Shared statistics',
  'share.ended': 'Ended shared statistics',
  'target.deleted': 'Stopped monitoring {}',
  'job.finished': 'Finished {}',
  'account.registered': 'Created the account',
  'account.renamed': 'Changed the name',
  'account.address_requested': 'Requested a new email',
  'account.address_changed': 'Changed the email',
  'account.address_kept': 'Kept the email and canceled the new one',
  'account.address_verified': 'Confirmed the email',
  'account.identity_connected': 'Connected the identity provider',
  'account.identity_removed': 'Removed the identity provider',
  'account.password_changed': 'Changed the password',
  'account.password_removed': 'Removed the password',
  'account.password_reset': 'Reset the password',
  'account.reset_issued': 'Created a password reset link',
  'account.exported': 'Exported the account’s data',
  'account.mail_changed': 'Changed the email settings',
  'account.undeliverable': 'An email bounced',
  'account.closed': 'Closed the account',
  'session.began': 'Signed in',
  'session.ended': 'Ended a session',
  'session.all_ended': 'Ended all sessions',
  'session.guessed': 'Delayed sign-in after several wrong passwords',
};

/** What somebody becomes by these. */
const AS_ROLE = ['member.joined', 'invitation.created'];

/** A word of the API's own, which needs no quotation marks, such as a role. */
const WORD = /^[a-z_]+$/;

/** What has no page any more after these. */
const GONE = ['link.purged', 'key.revoked'];

/**
 * Who is called what, and which members and API keys there still are.
 * @typedef {{ personName: (userId: string) => unknown, isThere: (subject: Subject) => boolean }} Known
 */

/** @param {AuditEntry} entry @param {Known} known */
export function sentenceOf({ action, subject, from, to }, known) {
  const words = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (!words) return html`<code>${action}</code>${transition(from, to, known)}`;
  const [before, after] = words.split('{}');
  const what = after === undefined ? '' : html`<${Named} subject=${subject} hasPage=${!GONE.includes(action)} known=${known} />`;
  return html`${before}${what}${after}${AS_ROLE.includes(action) && to ? ` as ${withArticle(to)}` : action === 'job.finished' ? ending(from, to) : transition(from, to, known)}`;
}

/** What a job was to do, and how that ended: both are words already. @param {string | null} from @param {string | null} to */
const ending = (from, to) => [from, to].filter(Boolean).map((words, at) => html`${at > 0 ? ' – ' : ': '}<bdi>${words}</bdi>`);

/** @param {string | null} from @param {string | null} to @param {Known} known */
function transition(from, to, known) {
  const value = (/** @type {string} */ text) => valueOf(text, known);
  // Of what may be anything, only its name is told.
  if (from === to) return from ? html`: ${value(from)}` : '';
  if (from && to) return html` from ${value(from)} to ${value(to)}`;
  return html`: ${to ? value(to) : html`no longer ${value(/** @type {string} */ (from))}`}`;
}

/** @param {string} text @param {Known} known */
function valueOf(text, { personName }) {
  if (isPerson(text)) return html`<bdi>${personName(text)}</bdi>`;
  return WORD.test(text) ? text.replaceAll('_', ' ') : html`“<bdi>${text}</bdi>”`;
}

/** Whether it is the id of a person, such as of whom an API key was. @param {string | null} text */
export const isPerson = (text) => text !== null && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** @param {{ subject: Subject | null, hasPage: boolean, known: Known }} props */
function Named({ subject, hasPage, known }) {
  if (!subject) return html`something`;
  const text = textOf(subject, known);
  const page = hasPage && (!LISTED.includes(subject.kind) || known.isThere(subject)) && PAGES_OF[subject.kind]?.(subject.id);
  return page ? html`<a href=${page}>${text}</a>` : text;
}

/** @param {Subject} subject @param {Known} known */
function textOf({ kind, id, name }, { personName }) {
  if (kind === 'member') return html`<bdi>${name || personName(id)}</bdi>`;
  if (kind === 'key') return name ? html`“<bdi>${name}</bdi>”` : html`<code>${id}</code>`;
  return html`<bdi>${name || NAMELESS[kind] || id}</bdi>`;
}

/** Instead of an id that says nothing. @type {Record<string, string>} */
const NAMELESS = { target: 'a URL', job: 'a job' };

/** What has no page of its own, but is in a list as long as it is there. */
const LISTED = ['member', 'key'];

/** @type {Record<string, (id: string) => string>} */
const PAGES_OF = {
  link: (code) => href(['links', code]),
  job: (id) => href('settings', { job: id }),
  member: () => href('members'),
  key: () => href('keys'),
};
