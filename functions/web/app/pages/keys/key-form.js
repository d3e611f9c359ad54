import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox, Field } from '../../ui/field.js';
import { FormFailure } from '../../ui/states.js';

/** What a key may be allowed to do, as the API names it. */
const SCOPES = [
  { scope: 'links:read', label: 'Read links', hint: 'List and view links and monitored URLs.' },
  { scope: 'links:write', label: 'Create and edit links', hint: 'Also delete links, with or without statistics, and add and remove monitored URLs.' },
  { scope: 'analytics:read', label: 'Read statistics', hint: 'Daily totals, individual clicks and full referrers.' },
];

const DAY_MS = 86_400_000;
const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'Never' },
  { value: 'date', label: 'On a date' },
];

/** @typedef {{ name: string, scopes: string[], lifetime: string, expires_at: string }} Values */

/** @param {Values} values */
function check({ name, scopes, lifetime, expires_at }) {
  return {
    name: name.trim() ? undefined : 'Enter a name.',
    scopes: scopes.length > 0 ? undefined : 'Choose at least one permission.',
    expires_at: lifetime !== 'date' || expires_at >= today() ? undefined : 'Choose today or a later day.',
  };
}

/** @param {Values} values */
function expiryOf({ lifetime, expires_at }) {
  if (lifetime === '') return undefined;
  // The day that is chosen is the last one.
  if (lifetime === 'date') return new Date(`${expires_at}T23:59:59`).toISOString();
  return new Date(Date.now() + Number(lifetime) * DAY_MS).toISOString();
}

/** The visitor's day, as an input of type date has it. */
function today() {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate(), 12).toISOString().slice(0, 10);
}

/** @param {{ onClose: () => void, onCreated: (key: import('./created-key.js').NewKey) => void }} props */
export function KeyForm({ onClose, onCreated }) {
  const form = useForm(
    /** @type {Values} */ ({ name: '', scopes: ['links:read', 'links:write'], lifetime: '90', expires_at: '' }),
    async (values) => {
      const { name, scopes } = values;
      onCreated(await call('POST /api/keys', { body: { name: name.trim(), scopes, expires_at: expiryOf(values) } }));
    },
    { check },
  );
  const { scopes, lifetime } = form.values;
  const toggle = (/** @type {string} */ scope) => (/** @type {boolean} */ isOn) =>
    form.set('scopes', SCOPES.map((one) => one.scope).filter((one) => (one === scope ? isOn : scopes.includes(one))));
  const footer = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Create key<//>`;
  return html`<${Dialog} title="New API key" onClose=${onClose} onSubmit=${form.submit} footer=${footer}>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Name" placeholder="Build server" autofocus autocomplete="off" ...${form.field('name')} />
    <fieldset class="options">
      <legend>Permissions</legend>
      ${SCOPES.map(
        ({ scope, label, hint }) => html`<${Checkbox}
          key=${scope}
          label=${html`${label} <code class="small-print">${scope}</code>`}
          hint=${hint}
          checked=${scopes.includes(scope)}
          onChange=${toggle(scope)}
        />`,
      )}
      ${form.errors.scopes && html`<p class="field-error" role="alert">${form.errors.scopes}</p>`}
    </fieldset>
    <div class="stack tight">
      <p class="label">Expires</p>
      <div><${Choice} label="Expires" value=${lifetime} options=${LIFETIMES} onChange=${(/** @type {string} */ chosen) => form.set('lifetime', chosen)} /></div>
      ${lifetime === 'date' && html`<${Field} label="Expiration date" type="date" min=${today()} ...${form.field('expires_at')} />`}
      ${lifetime === '' && html`<p class="hint">Revoke a key without an expiration date when you no longer need it.</p>`}
    </div>
  <//>`;
}
