import { html } from '../../vendor/preact.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { session, signInAgain, signOut } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { FormFailure } from '../../ui/states.js';
import { Providers } from '../providers/providers.js';

/** Asks to sign in again when the session has ended: with the password one goes on where one was. */
export function SessionOver() {
  const { rules, isKnown } = useRegistration();
  const form = useForm({ email: session.get().email, password: '' }, ({ email, password }) => signInAgain(password, email.trim()));
  if (!isKnown) return null;
  const { oidc: providers, password_login: takesPassword } = rules;
  const footer = html`<${Button} onClick=${() => signOut()}>Sign out<//>
    ${takesPassword && html`<${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Continue<//>`}`;
  return html`<${Dialog} title="Your session has expired" mustAnswer onClose=${() => {}} footer=${footer} onSubmit=${takesPassword ? form.submit : undefined}>
    ${providers.length > 0 &&
    html`<p>Sign in again to come back to this page. What you’ve typed and not saved is lost.</p>
      <${Providers} providers=${providers} hasOther=${takesPassword} />`}
    ${takesPassword &&
    html`<p>Enter your password to continue. Nothing on this page is lost.</p>
      <${FormFailure} error=${form.failure} />
      <${Field} label="Email" type="email" autocomplete="username" ...${form.field('email')} />
      <${Field} label="Password" type="password" autocomplete="current-password" autofocus required ...${form.field('password')} />`}
  <//>`;
}
