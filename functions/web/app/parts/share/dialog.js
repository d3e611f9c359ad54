import { html, useState } from '../../vendor/preact.js';
import { useForm } from '../../core/form.js';
import { invalidate, useResource } from '../../core/resource.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Loaded } from '../../ui/states.js';
import { CopyField } from '../copy-field/copy-field.js';
import { createShare, keyOfShares, readShares } from './calls.js';
import { ShareLines } from './lines.js';

const DAY_MS = 86_400_000;
const LEAST_PASSWORD = 4;
const LIFETIMES = [
  { value: '', label: 'Never' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: 'date', label: 'On a date' },
];

/** @typedef {{ lifetime: string, date: string, password: string }} Values */

/** The visitor's day, as an input of type date has it. */
function today() {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate(), 12).toISOString().slice(0, 10);
}

/** @param {Values} values */
const check = ({ lifetime, date, password }) => ({
  date: lifetime !== 'date' || date >= today() ? undefined : 'Choose today or a later day.',
  password: !password || password.length >= LEAST_PASSWORD ? undefined : `Use at least ${LEAST_PASSWORD} characters.`,
});

/** @param {Values} values */
function expiryOf({ lifetime, date }) {
  if (lifetime === '') return undefined;
  // The day that is chosen is the last one.
  if (lifetime === 'date') return new Date(`${date}T23:59:59`).toISOString();
  return new Date(Date.now() + Number(lifetime) * DAY_MS).toISOString();
}

/** @param {import('./calls.js').Of & { onClose: () => void }} props */
export function ShareDialog({ code, tag, onClose }) {
  const of = { code, tag };
  const shares = useResource(keyOfShares(of), () => readShares(of));
  const [created, setCreated] = useState('');
  const form = useForm(
    /** @type {Values} */ ({ lifetime: '', date: '', password: '' }),
    async (values) => {
      const { url } = await createShare(of, { expires_at: expiryOf(values), password: values.password || undefined });
      setCreated(url);
      invalidate('shares');
    },
    { check },
  );
  const { lifetime } = form.values;
  const footer = created
    ? html`<${Button} onClick=${onClose}>Done<//>`
    : html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Create link<//>`;
  return html`<${Dialog} title="Share statistics" onClose=${onClose} onSubmit=${created ? undefined : form.submit} footer=${footer}>
    ${created
      ? html`<${CopyField} label="URL" text=${created} hint="Copy it now. It won’t be shown again." />`
      : html`<p>Anyone with the URL sees the numbers, the chart and where visitors come from, without an account. They don’t see individual clicks${tag === undefined ? '' : ' or destinations'}.</p>
          <${FormFailure} error=${form.failure} />
          <div class="stack tight">
            <p class="label">Expires</p>
            <div><${Choice} label="Expires" value=${lifetime} options=${LIFETIMES} onChange=${(/** @type {string} */ chosen) => form.set('lifetime', chosen)} /></div>
            ${lifetime === 'date' && html`<${Field} label="Expiration date" type="date" min=${today()} ...${form.field('date')} />`}
          </div>
          <${Field} label="Password" isOptional type="password" autocomplete="new-password" maxlength="128" ...${form.field('password')} />`}
    <${Loaded} of=${shares} what="Couldn’t load what is shared." waiting=${null}>
      ${(/** @type {{ shares: import('./calls.js').Share[] }} */ list) =>
        list.shares.length > 0 && html`<section class="stack tight"><h3 class="label">Shared now</h3><${ShareLines} shares=${list.shares} /></section>`}
    <//>
  <//>`;
}
