import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { emailError, PASSWORD_HINT, passwordError } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { signIn } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { Door } from './door.js';

export function SignUpPage() {
  return html`<${Door} title="Create an account" below=${html`Have one already? <a href="#/sign-in">Sign in</a>`}>
    <${SignUpForm} />
  <//>`;
}

/**
 * @param {{ invitation?: string, email?: string, onDone?: () => void }} props `invitation` is a token, with which one joins a
 *   workspace or may have an account; `email` is the address that it is for, if that is known
 */
export function SignUpForm({ invitation, email: invited = '', onDone }) {
  const form = useForm(
    { full_name: '', email: invited, password: '', invitation },
    async ({ email, password, full_name }) => {
      await call('POST /api/auth/register', { anonymous: true, body: { email, password, full_name, invitation } });
      await signIn(email, password);
      onDone?.();
    },
    { check: ({ email, password }) => ({ email: emailError(email), password: passwordError(password) }) },
  );
  const isClosed = form.failure?.code === 'registration_closed';
  const isUnverified = form.failure?.code === 'address_unverified';
  if (isUnverified) {
    return html`<${Notice} tone="good">
      Your account is there. We have sent a mail to <strong>${form.values.email}</strong>: open the link in it, then sign in.
    <//>`;
  }
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    ${isClosed
      ? html`<${Notice} tone="warn">Accounts are made by invitation here. Ask somebody who uses this Linklet for one.<//>`
      : html`<${FormFailure} error=${form.failure} />`}
    <${Field} label="Email" type="email" autocomplete="username" autofocus=${!invited} ...${form.field('email')} />
    <${Field} label="Password" type="password" autocomplete="new-password" autofocus=${!!invited} hint=${PASSWORD_HINT} ...${form.field('password')} />
    <${Field} label="Your name" isOptional autocomplete="name" maxlength="255" ...${form.field('full_name')} />
    <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Create account<//>
  </form>`;
}
