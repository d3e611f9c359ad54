import { html } from '../vendor/preact.js';
import { useForm } from '../core/form.js';
import { session, signInAgain, signOut } from '../core/session.js';
import { useStore } from '../core/store.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { FormFailure } from '../ui/states.js';

/** Asks for the password when the session has ended, and goes on where one was. */
export function SessionOver() {
  const { email } = useStore(session);
  const form = useForm({ password: '' }, ({ password }) => signInAgain(password));
  const footer = html`<${Button} onClick=${() => signOut()}>Sign out<//>
    <${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Go on<//>`;
  return html`<${Dialog} title="Your session is over" mustAnswer onClose=${() => {}} footer=${footer} onSubmit=${form.submit}>
    <p>Enter the password of <strong>${email}</strong> to go on. Nothing on this page is lost.</p>
    <${FormFailure} error=${form.failure} />
    <input class="hidden" type="email" name="email" autocomplete="username" value=${email} readonly tabindex="-1" aria-hidden="true" />
    <${Field} label="Password" type="password" autocomplete="current-password" autofocus required ...${form.field('password')} />
  <//>`;
}
