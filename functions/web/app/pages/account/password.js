// The password, if people sign in with one here: another one, a first one, or none any more.

import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { PASSWORD_HINT, passwordError } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { invalidate } from '../../core/resource.js';
import { Proof, ProofDialog, providersOf, useProving, useWays } from '../../parts/proof/proof.js';
import { isBackFor } from '../../parts/providers/providers.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { Card } from '../../ui/page.js';
import { FormFailure, Loaded } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';

export function Password() {
  const resource = useWays();
  const { data: ways } = resource;
  const { rules, isKnown } = useRegistration();
  const [isRemoving, setRemoving] = useState(isBackFor('remove-password'));
  // Where neither it nor the account has one, there is nothing to say.
  if (!isKnown || (ways && !rules.password_login && !ways.has_password)) return null;
  const isRemovable = ways?.has_password && providersOf(ways).length > 0;
  const removal = isRemovable && html`<${Button} class="compact" onClick=${() => setRemoving(true)}>Remove<span class="hidden"> your password</span><//>`;
  return html`<${Card} title="Password" actions=${removal}>
    <${Loaded} of=${resource} what="Couldn’t load how you sign in.">${() => html`<${OfAccount} hasOne=${ways?.has_password} isTaken=${rules.password_login} />`}<//>
    ${isRemoving && html`<${Removal} onClose=${() => setRemoving(false)} />`}
  <//>`;
}

/** @param {{ hasOne: boolean, isTaken: boolean }} props */
function OfAccount({ hasOne, isTaken }) {
  const [isMaking, setMaking] = useState(isBackFor('password') && !hasOne);
  const close = () => setMaking(false);
  if (!isTaken) return html`<p class="muted">Passwords are turned off here, so yours isn’t accepted.</p>`;
  if (hasOne) return html`<${PasswordForm} hasOne />`;
  return html`<div class="stack">
    <p class="muted">You have no password. With one, you can sign in here without a provider.</p>
    <p><${Button} onClick=${() => setMaking(true)}>Create a password<//></p>
    ${isMaking && html`<${Dialog} title="Create a password" onClose=${close}><${PasswordForm} onDone=${close} /><//>`}
  </div>`;
}

/** @param {{ hasOne?: boolean, onDone?: () => void }} props */
function PasswordForm({ hasOne = false, onDone }) {
  const proving = useProving('password');
  const form = useForm(
    { current: '', new: '' },
    async ({ current, new: chosen }) => {
      await call('POST /api/auth/password', { body: { current: current || undefined, new: chosen } }).catch(proving.blame('current'));
      toast(`Password ${hasOne ? 'changed' : 'created'}. Your other sessions end within a minute.`);
      form.set('current', '');
      form.set('new', '');
      onDone?.();
      invalidate('identities');
    },
    { check: (values) => ({ current: proving.takesPassword && !values.current ? 'Enter your current password.' : undefined, new: passwordError(values.new) }) },
  );
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <${FormFailure} error=${form.failure} />
    <${Proof} of=${proving} form=${form} field="current" label="Current password" />
    ${proving.mayGoOn &&
    html`<${Field} label="New password" type="password" autocomplete="new-password" hint=${PASSWORD_HINT} ...${form.field('new')} />
      <p><${Button} kind="primary" type="submit" isBusy=${form.isBusy}>${hasOne ? 'Change' : 'Create'} password<//></p>`}
  </form>`;
}

/** @param {{ onClose: () => void }} props */
function Removal({ onClose }) {
  const send = async (/** @type {string | undefined} */ password) => {
    await call('DELETE /api/auth/password', { body: { password } });
    onClose();
    invalidate('identities');
    toast('Password removed. Your other sessions end within a minute.');
  };
  return html`<${ProofDialog} title="Remove your password?" task="remove-password" action="Remove password" isDanger send=${send} onClose=${onClose}>
    <p>From then on, you sign in with your provider only. Your other sessions end.</p>
  <//>`;
}
