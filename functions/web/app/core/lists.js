// What several pages know about the workspace: its tags, its members, and how it does.

import { call } from './api.js';
import { useResource } from './resource.js';

/** @typedef {{ name: string, links: number }} TagCount */

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
 * @property {string} created_at
 * @property {string | null} expires_at
 * @property {boolean} is_active
 * @property {'active' | 'inactive' | 'deleted' | 'expired'} status
 * @property {number | null} total_clicks
 * @property {string} created_by
 */

/** The tags that links have, the most used first. */
export function useTags() {
  const resource = useResource('tags', () => call('GET /api/tags'));
  return /** @type {TagCount[]} */ (resource.data?.tags ?? []);
}

/** The numbers of the whole workspace. */
export const useOverview = () => useResource('overview', () => call('GET /api/overview'));

/** @typedef {{ user_id: string, email: string, full_name?: string, role: string, joined_at: string }} Member */

/** The members of the workspace. */
export const useMembers = () => useResource('members', () => call('GET /api/workspace/members'));

/** @param {Member | undefined} member */
export const nameOf = (member) => member?.full_name || member?.email || 'a former member';
