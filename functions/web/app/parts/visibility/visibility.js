// Who may see the statistics of a link: what it says itself, else its workspace, else the system.

import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { useResource } from '../../core/resource.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Field } from '../../ui/field.js';
import { Icon } from '../../ui/icons.js';

/** @typedef {import('../../core/lists.js').Visibility} Visibility */

const FRESH_MS = 300_000;

/** @type {{ value: Visibility, label: string, hint: string }[]} */
export const VISIBILITIES = [
  { value: 'public', label: 'Public', hint: 'Anyone with the short link can see the numbers.' },
  { value: 'private', label: 'Private', hint: 'Only members of this workspace can see the numbers.' },
];

/** @param {Visibility} visibility */
export const namedVisibility = (visibility) => /** @type {typeof VISIBILITIES[number]} */ (VISIBILITIES.find(({ value }) => value === visibility) ?? VISIBILITIES[0]);

/** What applies to a workspace's links that say nothing. @param {{ statistics?: Visibility | null, default_statistics?: Visibility }} workspace @returns {Visibility} */
export const ofWorkspace = ({ statistics, default_statistics: byDefault }) => statistics ?? byDefault ?? 'public';

/** @param {{ isWanted?: boolean }} [options] @returns {import('../../core/resource.js').Resource<Visibility>} */
export const useWorkspaceVisibility = ({ isWanted = true } = {}) =>
  useResource(isWanted ? 'visibility' : null, async () => ofWorkspace(await call('GET /api/workspace')), { freshMs: FRESH_MS });

/** The sentence on a link's page. @param {{ own?: Visibility | null, onChange?: () => void }} props `onChange` of who may change it */
export function VisibilityFact({ own, onChange }) {
  const { data } = useWorkspaceVisibility({ isWanted: !own });
  const applied = own ?? data;
  if (!applied) return html`<p class="visibility-fact"> </p>`;
  const { value, hint } = namedVisibility(applied);
  return html`<p class="visibility-fact">
    <${Icon} name=${value === 'public' ? 'eye' : 'lock'} />
    <span>Statistics: ${value} – ${hint[0].toLowerCase()}${hint.slice(1, -1)}</span>
    ${onChange && html`<${Button} kind="quiet" class="compact" onClick=${onChange}>Change<span class="hidden"> who sees the statistics</span><//>`}
  </p>`;
}

/** The field of a link's form. @param {{ input: { value: string, error?: unknown } }} props an empty value leaves it to the workspace */
export function VisibilityField({ input }) {
  const { data } = useWorkspaceVisibility();
  const inherited = data && namedVisibility(data);
  const chosen = input.value ? namedVisibility(/** @type {Visibility} */ (input.value)) : inherited;
  return html`<${Field} label="Statistics" as="select" hint=${chosen?.hint} ...${input}>
    <option value="" selected=${!input.value}>Default${inherited && ` (${inherited.label})`}</option>
    ${VISIBILITIES.map(({ value, label }) => html`<option value=${value} selected=${value === input.value}>${label}</option>`)}
  <//>`;
}

/** The setting of a workspace. @param {{ value: Visibility, onChange: (chosen: Visibility) => void, error?: string }} props */
export function VisibilityChoice({ value, onChange, error }) {
  return html`<div class="field">
    <span class="label" aria-hidden="true">Statistics of links</span>
    <div><${Choice} label="Statistics of links" value=${value} options=${VISIBILITIES} onChange=${onChange} /></div>
    ${error && html`<p class="field-error" role="alert">${error}</p>`}
    <p class="hint" role="status">${namedVisibility(value).hint} A link can have its own setting.</p>
  </div>`;
}
