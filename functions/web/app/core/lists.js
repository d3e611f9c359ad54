// What several pages know about the workspace: its tags, its members, and how it does.

import { call, readAll } from './api.js';
import { counted, number } from './format.js';
import { useResource } from './resource.js';
import { session } from './session.js';

/** @typedef {{ tag: string, links: number, total_clicks: number }} TagCount */

/**
 * A link as lists have it.
 * @typedef {object} Link
 * @property {string} short_code
 * @property {string} short_url
 * @property {string} original_url
 * @property {string | null} title
 * @property {string | null} description
 * @property {string[]} tags
 * @property {boolean} watch
 * @property {boolean} archived whether lists leave it out
 * @property {string | null} target_id what it watches, as long as that is checked
 * @property {string} created_at
 * @property {string} [updated_at]
 * @property {string | null} [valid_from] when it begins to work
 * @property {string | null} expires_at
 * @property {boolean} is_active
 * @property {'active' | 'inactive' | 'scheduled' | 'exhausted' | 'expired' | 'suspended' | 'deleted'} status
 * @property {('closed' | 'legal' | 'abuse' | 'other')[]} suspended_for why it is suspended; empty if it isn’t
 * @property {number | null} total_clicks
 * @property {number | null} [imported_clicks] how often it was clicked where it was imported from; no statistics have them
 * @property {string} created_by
 * @property {string | null} [created_by_name] what they are called, if they have said so
 * @property {Record<string, string> | null} [metadata] what programs note of it
 * @property {string | null} [external_id] what it is called in another system
 * @property {Visibility | null} [statistics] who may see them, if it says so itself
 * @property {string | null} [fallback_url] where it leads while it doesn’t lead to its target
 * @property {number | null} [max_clicks] how often it may be used
 * @property {number | null} used how often it was, if there is a limit and that could be read
 * @property {boolean} [is_protected] whether visitors have to know a password
 * @property {boolean} [forward_query] whether it passes on the parameters of a visitor’s address
 * @property {Preview | null} [preview] what chats show of it
 * @property {boolean} [has_rules] whether it has rules or variants
 */

/** @typedef {{ title?: string, description?: string, image?: string }} Preview */
/** @typedef {'public' | 'private'} Visibility who may see statistics: whoever knows the short code, or the workspace */

/** `37 of 100 used`; nothing if there is no limit. @param {Pick<Link, 'used' | 'max_clicks'>} link */
export function usedOf({ used, max_clicks: most }) {
  if (!most) return '';
  return used === null ? `limit of ${counted(most, 'click')}` : `${number(used)} of ${number(most)} used`;
}

/**
 * The link of an answer to `POST /api/shorten`. One that was archived is needed again, so it is brought back by who may.
 * @param {any} made
 * @returns {Promise<Link>}
 */
export async function readMade(made) {
  const path = { code: made.short_code };
  const read = () => call('GET /api/links/{code}', { path });
  return made.archived ? call('PATCH /api/links/{code}', { path, body: { archived: false } }).catch(read) : read();
}

/** @param {any} made an answer to `POST /api/shorten` @param {CountedLink} link */
export function noteMade(made, link) {
  if (!made.reused) noteChange(undefined, link);
  else if (made.archived && !link.archived) noteChange({ ...link, archived: true }, link);
}

/** @param {any} made @param {Link | undefined} link */
export function wordsOfMade(made, link) {
  if (!made.reused) return 'Link created.';
  const archived = link?.archived === false ? ' It’s no longer archived.' : ' It’s archived.';
  return `You already have this link.${made.archived ? archived : ''}`;
}

/** As much of a link as is counted. @typedef {Pick<Link, 'tags' | 'archived' | 'status' | 'total_clicks'>} CountedLink */
/** A link before and after what was done to it here; nothing where there was or is none. @typedef {{ before?: CountedLink, after?: CountedLink, at: string }} LinkChange */

/** @type {{ visit: number, changes: LinkChange[] }} */
const done = { visit: 0, changes: [] };

/** What was done here to links of the workspace. */
export const changesHere = () => (done.visit === session.get().visit ? done.changes : /** @type {LinkChange[]} */ ([]));

/**
 * Notes what was done to a link, which the API counts within a minute.
 * @param {CountedLink | undefined} before
 * @param {CountedLink & { created_at?: string, updated_at?: string }} [after]
 */
export function noteChange(before, after) {
  const at = after?.updated_at ?? after?.created_at ?? new Date().toISOString();
  const changes = changesHere();
  changes.push({ before, after, at });
  Object.assign(done, { changes, visit: session.get().visit });
}

/** The list of all links, newest first, once it is shown. @type {{ visit: number, list?: { isRead: boolean, links: Link[] } }} */
const shownLinks = { visit: 0 };

/** @param {{ isRead: boolean, links: Link[] }} list */
export const rememberLinks = (list) => void Object.assign(shownLinks, { visit: session.get().visit, list });

/** The links, the newest first, if they are in memory. */
export const knownLinks = () => (shownLinks.visit === session.get().visit && shownLinks.list?.isRead ? shownLinks.list.links : undefined);

/** @typedef {{ total_clicks: number, human_clicks: number, total_clicks_before: number, human_clicks_before: number }} ComparedClicks */

/** Of how many clicks numbers are, if they aren't of all. @typedef {{ clicks: number, of: number }} CoveredLinks */

/**
 * The numbers of the whole workspace, or of the links with a tag.
 * @typedef {object} Overview
 * @property {string} as_of
 * @property {string | null} tag as its newest link has it
 * @property {{ total: number, active: number, inactive: number, scheduled?: number, exhausted?: number, expired: number, suspended?: number, deleted: number, archived: number }} links those by status aren't archived
 * @property {{ today: ComparedClicks, last_7_days: ComparedClicks, last_30_days: ComparedClicks }} clicks
 * @property {{ from: string, to: string, total_clicks: number, human_clicks: number, total_clicks_before: number | null, human_clicks_before: number | null, covers: CoveredLinks | null } | null} period the time that was asked for
 * @property {{ date: string, clicks: number, human_clicks: number }[]} days the last 60, or those of the time that was asked for
 * @property {(Pick<Link, 'short_code' | 'short_url' | 'original_url' | 'title'> & { total_clicks: number, human_clicks: number })[]} top_links
 * @property {{ id: string, url: string, since: string }[]} down
 * @property {string[]} incomplete of what only a part was counted
 */

/** @typedef {'fixed' | 'editable'} Destinations whether links lead to their target for ever */

const DESTINATIONS_FRESH_MS = 300_000;

/** Whether links of the workspace may be led elsewhere. @param {{ isWanted?: boolean }} [options] @returns {import('./resource.js').Resource<Destinations>} */
export const useDestinations = ({ isWanted = true } = {}) =>
  useResource(isWanted ? 'destinations' : null, async () => (await call('GET /api/workspace')).destinations ?? 'fixed', { freshMs: DESTINATIONS_FRESH_MS });

/** @typedef {{ user_id: string, email: string, full_name: string | null, role: string, joined_at: string, paused_at: string | null }} Member */

/** The members of the workspace, once they are wanted. @param {{ isWanted?: boolean }} [options] */
export const useMembers = ({ isWanted = true } = {}) => useResource(isWanted ? 'members' : null, () => readAll('members', 'GET /api/workspace/members'));

/** @param {Member | undefined} member */
export const nameOf = (member) => member?.full_name || member?.email || 'a former member';
