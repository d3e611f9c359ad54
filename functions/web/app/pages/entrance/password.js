// A forgotten password, and a new one by the token of a mail.

import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { emailError, PASSWORD_HINT } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice, Skeleton } from '../../ui/states.js';
import { Door, Outcome } from './door.js';
import { useNewPassword } from './new-password.js';

const back = html`<a href="#/sign-in">Back to signing in</a>`;

export function ForgotPage() {
  const { rules, isKnown } = useRegistration();
  return html`<${Door} title="Forgotten password" below=${back}>
    ${!isKnown ? html`<${Skeleton} rows=${2} height=${70} />` : rules.sends_mail ? html`<${ForgotForm} />` : html`<${NoMail} />`}
  <//>`;
}

function NoMail() {
  return html`<p>This Linklet sends no mails. Ask whoever runs it for a link with which you choose a new password.</p>`;
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
      If <strong>${sentTo}</strong> has an account, a mail is on its way. Its link works for 30 minutes. No mail? Look into the spam
      folder, or ask whoever runs this Linklet.
    <//>`;
  }
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <p>We send you a link with which you choose a new one.</p>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Email" type="email" autocomplete="username" autofocus ...${form.field('email')} />
    <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Send the link<//>
  </form>`;
}

export function ResetPage() {
  const { form, isDone, isSpent } = useNewPassword(
    (body) => call('POST /api/auth/password/reset', { anonymous: true, body }),
    ['token_invalid'],
  );
  if (isDone) {
    return html`<${Door} title="Password changed">
      <p>All sessions have ended. Sign in with the new password.</p>
      <p class="small-print">
        If nobody had shown before that this address is yours, API keys and other people’s memberships are paused: look at Members and API
        keys after signing in.
      </p>
      <p><${Button} kind="primary" href="#/sign-in" class="whole">Sign in<//></p>
    <//>`;
  }
  return html`<${Door} title="New password" below=${back}>
    ${isSpent
      ? html`<${Notice} tone="warn">This link was used already, or is too old. <a href="#/forgot">Ask for another one</a><//>`
      : html`<form class="stack" novalidate onSubmit=${form.submit}>
          <${FormFailure} error=${form.failure} />
          <${Field} label="New password" type="password" autocomplete="new-password" autofocus hint=${PASSWORD_HINT} ...${form.field('password')} />
          <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Change password<//>
        </form>`}
  <//>`;
}
