// Whether links of the workspace lead to their target for ever.

import { html } from '../../vendor/preact.js';
import { Choice } from '../../ui/chips.js';

/** @typedef {import('../../core/lists.js').Destinations} Destinations */

/** @type {{ value: Destinations, label: string, hint: string }[]} */
export const CHOICES = [
  { value: 'fixed', label: 'Fixed for ever', hint: 'Who has seen where a link leads can rely on it: nobody can lead its visitors elsewhere later.' },
  {
    value: 'editable',
    label: 'May be changed',
    hint: 'Who may change a link can lead its visitors elsewhere, by another target, rules or variants. Visitors have to trust your workspace, not what they have seen. The history of each link shows every change.',
  },
];

/** @param {{ value: Destinations, onChange: (chosen: Destinations) => void, error?: string }} props */
export function DestinationsChoice({ value, onChange, error }) {
  return html`<div class="field">
    <span class="label" aria-hidden="true">Destinations of links</span>
    <div><${Choice} label="Destinations of links" value=${value} options=${CHOICES} onChange=${onChange} /></div>
    ${error && html`<p class="field-error" role="alert">${error}</p>`}
    <p class="hint" role="status">${CHOICES.find((choice) => choice.value === value)?.hint}</p>
  </div>`;
}
