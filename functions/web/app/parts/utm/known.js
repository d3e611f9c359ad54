// Values that campaigns had before, for completion: of links that are in memory, and what was sent from this browser.

import { basePath } from '../../core/address.js';
import { knownLinks } from '../../core/lists.js';
import { session } from '../../core/session.js';
import { campaignIn, PARAMETERS } from './campaign.js';

/** @typedef {import('./campaign.js').Parameter} Parameter */
/** @typedef {Partial<Record<Parameter, string[]>>} KnownValues the latest first */

export const MOST_VALUES = 50;

/** Each workspace has its own. */
const storageKey = () => `linklet:utm:${basePath}:${session.get().me?.workspace_id ?? ''}`;

/** What was sent from here. @returns {KnownValues} */
function storedValues() {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey()) ?? '{}');
    return Object.fromEntries(PARAMETERS.map(({ name }) => [name, Array.isArray(stored?.[name]) ? stored[name].filter((value) => typeof value === 'string') : []]));
  } catch {
    return {};
  }
}

/** @param {KnownValues} known @param {string[]} urls the latest first @returns {KnownValues} */
function together(known, urls) {
  const campaigns = urls.map(campaignIn);
  return Object.fromEntries(
    PARAMETERS.map(({ name }) => [name, [...new Set([...campaigns.flatMap(({ [name]: value }) => value ?? []), ...(known[name] ?? [])])].slice(0, MOST_VALUES)]),
  );
}

/** Keeps the values of links that were made. @param {string[]} urls */
export function rememberCampaigns(urls) {
  try {
    localStorage.setItem(storageKey(), JSON.stringify(together(storedValues(), urls)));
  } catch {
    // A browser that keeps nothing completes what is in memory.
  }
}

/** Those that were sent from here come first. @returns {KnownValues} */
export function knownValues() {
  const stored = storedValues();
  const listed = together({}, (knownLinks() ?? []).map(({ original_url }) => original_url));
  return Object.fromEntries(PARAMETERS.map(({ name }) => [name, [...new Set([...(stored[name] ?? []), ...(listed[name] ?? [])])].slice(0, MOST_VALUES)]));
}
