import { html, useState } from '../../vendor/preact.js';
import { basePath } from '../../core/address.js';
import { call } from '../../core/api.js';
import { emailError } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { route } from '../../core/router.js';
import { signIn } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { Lazy } from '../../ui/lazy.js';
import { FormFailure, Notice, Skeleton } from '../../ui/states.js';
import { Door } from './door.js';
import { Elsewhere, elsewhere } from './elsewhere.js';
import { StaySignedIn } from './stay-signed-in.js';

// As high as the form without a provider, so that nothing moves when it is there.
const WAITING = { rows: 4, height: 66 };

export function SignInPage() {
  const form = useForm({ email: '', password: '', remember: true }, ({ email, password, remember }) => signIn(email, password, remember), {
    check: ({ email, password }) => ({ email: emailError(email), password: password ? undefined : 'Enter your password.' }),
  });
  const { query } = useStore(route);
  const { rules, isKnown } = useRegistration();
  const hasBegunElsewhere = localStorage.getItem(`linklet:began-at:${basePath}`) !== null;
  // Once an operator has let somebody choose one, it is taken although others aren’t.
  const takesPassword = rules.password_login || query.get('by') === 'password';
  const isUnverified = form.failure?.code === 'address_unverified';
  return html`<${Door} title="Sign in" below=${html`<${Newcomers} />`}>
    ${query.has('refused') && html`<${Lazy} load=${elsewhere} name="Refused" />`}
    ${hasBegunElsewhere && html`<${Lazy} load=${elsewhere} name="SignedOut" />`}
    ${!isKnown ? html`<${Skeleton} ...${WAITING} />` : html`
    <${Elsewhere} hasOther=${takesPassword} />
    ${takesPassword && html`<form class="stack" novalidate onSubmit=${form.submit}>
      ${isUnverified ? html`<${Unverified} email=${form.values.email} />` : html`<${FormFailure} error=${form.failure} />`}
      <${Field} label="Email" type="email" autocomplete="username" autofocus ...${form.field('email')} />
      <${Field} label="Password" type="password" autocomplete="current-password" ...${form.field('password')} />
      <${StaySignedIn} form=${form} />
      <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Sign in<//>
      <p class="small"><a href="#/forgot">Forgot your password?</a></p>
    </form>`}`}
  <//>`;
}

/** Where there is a way in for who is new. Its line is there from the beginning, so that nothing moves. */
function Newcomers() {
  const { rules, isKnown } = useRegistration();
  if (rules.registration === 'invited') return 'You need an invitation to create an account.';
  // Elsewhere, who is new signs in like everybody else.
  if (!rules.password_login) return null;
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
