// Whether links of the workspace lead to their target for ever.

import { html } from '../../vendor/preact.js';
import { Choice } from '../../ui/chips.js';

/** @typedef {import('../../core/lists.js').Destinations} Destinations */

/** @type {{ value: Destinations, label: string, hint: string }[]} */
export const CHOICES = [
  { value: 'fixed', label: 'Locked', hint: 'Visitors can trust that a link always leads to the same place.' },
  {
    value: 'editable',
    label: 'Editable',
    hint: 'Anyone who can edit a link can send its visitors elsewhere, with another destination, rules or variants. The history of each link shows every change.',
  },
];

/** @param {{ value: Destinations, onChange: (chosen: Destinations) => void, error?: string }} props */
export function DestinationsChoice({ value, onChange, error }) {
  return html`<div class="field">
    <span class="label" aria-hidden="true">Link destinations</span>
    <div><${Choice} label="Link destinations" value=${value} options=${CHOICES} onChange=${onChange} /></div>
    ${error && html`<p class="field-error" role="alert">${error}</p>`}
    <p class="hint" role="status">${CHOICES.find((choice) => choice.value === value)?.hint}</p>
  </div>`;
}
