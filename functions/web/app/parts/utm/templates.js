// The campaigns that a workspace keeps, as a member of its settings.

import { call } from '../../core/api.js';
import { useResource } from '../../core/resource.js';
import { PARAMETERS } from './campaign.js';

/** A parameter without a value stays open. @typedef {{ name: string } & import('./campaign.js').CampaignValues} Template */

/** The member of the settings that has them. */
export const MEMBER = 'utm_templates';
const FRESH_MS = 60_000;

/** Those that can be understood: programs may write settings, too. @param {unknown} stored @returns {Template[]} */
export function templatesIn(stored) {
  if (!Array.isArray(stored)) return [];
  return stored.filter((one) => typeof one?.name === 'string' && one.name).map((one) => ({ name: one.name, ...campaignOf(one) }));
}

/** @param {Record<string, unknown>} from @returns {import('./campaign.js').CampaignValues} */
export const campaignOf = (from) => Object.fromEntries(PARAMETERS.map(({ name }) => [name, from[name]]).filter(([, value]) => typeof value === 'string' && value));

/** @param {{ isWanted?: boolean }} [options] @returns {import('../../core/resource.js').Resource<Template[]>} */
export const useTemplates = ({ isWanted = true } = {}) =>
  useResource(isWanted ? 'utm-templates' : null, async () => templatesIn((await call('GET /api/workspace')).settings?.[MEMBER]), { freshMs: FRESH_MS });
