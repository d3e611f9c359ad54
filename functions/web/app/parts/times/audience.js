// Whose clicks are shown: those of humans, those of bots and link previews, or all.

import { html } from '../../vendor/preact.js';
import { setQuery } from '../../core/router.js';
import { Icon } from '../../ui/icons.js';
import { Menu } from '../../ui/menu.js';

/** @typedef {'people' | 'bots' | 'all'} Audience */

/** What the API is asked for, which has no name for all of them. @type {Record<Audience, string[]>} */
export const AUDIENCES = { people: ['human'], bots: ['bot', 'prefetch'], all: ['human', 'bot', 'prefetch'] };

export const ABOUT_HUMAN_CLICKS = 'Human clicks don’t include bots and link previews.';

/** @type {{ value: Audience, label: string }[]} */
const CHOICES = [
  { value: 'people', label: 'Humans' },
  { value: 'bots', label: 'Bots' },
  { value: 'all', label: 'All' },
];

/** Whose clicks an address is about: those of people, if it says nothing. @param {URLSearchParams} query @returns {Audience} */
export function audienceOf(query) {
  const given = query.getAll('audience');
  const hasMachines = given.includes('bot') || given.includes('prefetch');
  if (!hasMachines) return 'people';
  return given.includes('human') ? 'all' : 'bots';
}

/** @param {{ audience: Audience }} props */
export function AudienceChoice({ audience }) {
  const choose = (/** @type {Audience} */ wanted) => setQuery({ audience: wanted === 'people' ? '' : AUDIENCES[wanted] }, { replace: false });
  const items = CHOICES.map(({ value, label }) => ({ label, isCurrent: value === audience, act: () => choose(value) }));
  return html`<${Menu} class="button" align="start" items=${items}><span class="hidden">Clicks by: </span>${CHOICES.find(({ value }) => value === audience)?.label}<${Icon} name="down" /><//>`;
}
