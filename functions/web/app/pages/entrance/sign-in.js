import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { emailError } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { signIn } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { Door } from './door.js';
import { StaySignedIn } from './stay-signed-in.js';

export function SignInPage() {
  const form = useForm({ email: '', password: '', remember: true }, ({ email, password, remember }) => signIn(email, password, remember), {
    check: ({ email, password }) => ({ email: emailError(email), password: password ? undefined : 'Enter your password.' }),
  });
  const isUnverified = form.failure?.code === 'address_unverified';
  return html`<${Door} title="Sign in" below=${html`<${Newcomers} />`}>
    <form class="stack" novalidate onSubmit=${form.submit}>
      ${isUnverified ? html`<${Unverified} email=${form.values.email} />` : html`<${FormFailure} error=${form.failure} />`}
      <${Field} label="Email" type="email" autocomplete="username" autofocus ...${form.field('email')} />
      <${Field} label="Password" type="password" autocomplete="current-password" ...${form.field('password')} />
      <${StaySignedIn} form=${form} />
      <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Sign in<//>
      <p class="small"><a href="#/forgot">Forgot your password?</a></p>
    </form>
  <//>`;
}

/** Where there is a way in for who is new. Its line is there from the beginning, so that nothing moves. */
function Newcomers() {
  const { rules, isKnown } = useRegistration();
  if (rules.registration === 'invited') return 'You need an invitation to create an account.';
  return html`<span class=${isKnown ? '' : 'unseen'}>New here? <a href="#/sign-up">Create an account</a></span>`;
}

/** @param {{ email: string }} props */
function Unverified({ email }) {
  const [isSent, setSent] = useState(false);
  const send = async () => {
    await call('POST /api/auth/verification', { anonymous: true, body: { email } });
    setSent(true);
  };
  return html`<${Notice} tone="warn">
    <p>Confirm your email first. We sent a link to <strong>${email}</strong>.</p>
    ${isSent ? html`<p>Sent. It may take a minute.</p>` : html`<${Button} kind="quiet" onClick=${send}>Resend<//>`}
  <//>`;
}
