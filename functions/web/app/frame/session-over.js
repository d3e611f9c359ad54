import { html } from '../vendor/preact.js';
import { useForm } from '../core/form.js';
import { session, signInAgain, signOut } from '../core/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { FormFailure } from '../ui/states.js';

/** Asks for the password when the session has ended, and goes on where one was. */
export function SessionOver() {
  const form = useForm({ email: session.get().email, password: '' }, ({ email, password }) => signInAgain(password, email.trim()));
  const footer = html`<${Button} onClick=${() => signOut()}>Sign out<//>
    <${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Continue<//>`;
  return html`<${Dialog} title="Your session has expired" mustAnswer onClose=${() => {}} footer=${footer} onSubmit=${form.submit}>
    <p>Enter your password to continue. Nothing on this page is lost.</p>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Email" type="email" autocomplete="username" ...${form.field('email')} />
    <${Field} label="Password" type="password" autocomplete="current-password" autofocus required ...${form.field('password')} />
  <//>`;
}
