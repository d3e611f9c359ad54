// A forgotten password, and a new one by the token of a mail.

import { html, useState } from '../../vendor/preact.js';
import { basePath } from '../../core/address.js';
import { call } from '../../core/api.js';
import { emailError, PASSWORD_HINT } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { route } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { Lazy } from '../../ui/lazy.js';
import { FormFailure, Notice, Skeleton } from '../../ui/states.js';
import { Door, Outcome } from './door.js';
import { NoPasswords } from './elsewhere.js';
import { useNewPassword } from './new-password.js';

const back = html`<a href="#/sign-in">Back to sign-in</a>`;

export function ForgotPage() {
  const { rules, isKnown } = useRegistration();
  return html`<${Door} title="Forgot password" below=${back}>
    ${!isKnown ? html`<${Skeleton} rows=${2} height=${70} />` : !rules.password_login ? html`<${NoPasswords} />` : rules.sends_mail ? html`<${ForgotForm} />` : html`<${NoMail} />`}
  <//>`;
}

function NoMail() {
  return html`<p>This Linklet doesn’t send email. Ask its operator for a link to reset your password.</p>`;
}

function ForgotForm() {
  const [sentTo, setSentTo] = useState('');
  const form = useForm(
    { email: '' },
    async ({ email }) => {
      await call('POST /api/auth/password/forgot', { anonymous: true, body: { email } });
      setSentTo(email);
    },
    { check: ({ email }) => ({ email: emailError(email) }) },
  );
  if (sentTo) {
    return html`<${Outcome}>
      If <strong>${sentTo}</strong> has an account, we sent it a link that works for 30 minutes. No email? Check your spam
      folder, or ask this Linklet’s operator.
    <//>`;
  }
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <p>We’ll email you a link to choose a new one.</p>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Email" type="email" autocomplete="username" autofocus ...${form.field('email')} />
    <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Send link<//>
  </form>`;
}

export function ResetPage() {
  const { form, isDone, isSpent } = useNewPassword(
    (body) => call('POST /api/auth/password/reset', { anonymous: true, body }),
    ['token_invalid'],
  );
  const token = useStore(route).query.get('token') ?? '';
  const { rules, isKnown } = useRegistration();
  const [provider] = useState(waitingProvider);
  // Without one, it may be an operator's token, which sets a password although others have none.
  const takesPassword = !provider || (isKnown && rules.password_login);
  if (isDone) {
    return html`<${Door} title="Password changed">
      <p>All sessions have ended. Sign in with your new password.</p>
      <p class="small-print">
        If your email wasn’t confirmed before, API keys and other people’s memberships are paused. Review Members and API
        keys after you sign in.
      </p>
      <p><${Button} kind="primary" href=${rules.password_login ? '#/sign-in' : '#/sign-in?by=password'} class="whole">Sign in<//></p>
    <//>`;
  }
  return html`<${Door} title="New password" below=${back}>
    ${isSpent
      ? html`<${Notice} tone="warn">This link has been used or has expired. <a href="#/forgot">Request a new one</a><//>`
      : html`${provider && html`<${Lazy} load=${() => import('../providers/providers.js')} name="JoinByToken" token=${token} provider=${provider} isOnly=${!takesPassword} />`}
          ${takesPassword && html`<form class="stack" novalidate onSubmit=${form.submit}>
            <${FormFailure} error=${form.failure} />
            <${Field} label="New password" type="password" autocomplete="new-password" autofocus hint=${PASSWORD_HINT} ...${form.field('password')} />
            <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Change password<//>
          </form>`}`}
  <//>`;
}

/** The provider whose identity waits for the token of a mail, in this browser. @returns {string | undefined} */
function waitingProvider() {
  const { provider, until } = JSON.parse(localStorage.getItem(`linklet:joins:${basePath}`) ?? '{}');
  return until > Date.now() ? provider : undefined;
}
