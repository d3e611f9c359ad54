import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { PASSWORD_HINT } from '../../core/checks.js';
import { useRegistration } from '../../core/registration.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { Door } from './door.js';
import { NoPasswords } from './elsewhere.js';
import { useNewPassword } from './new-password.js';

/** Where an account begins without a password, the mail that confirms its address leads here. */
export function FirstPasswordPage() {
  // With a password that was chosen meanwhile, another one is a wrong one.
  const { form, isDone, isSpent } = useNewPassword(
    (body) => call('POST /api/auth/verify', { anonymous: true, body }),
    ['token_invalid', 'invalid_credentials'],
  );
  const { rules } = useRegistration();
  if (!rules.password_login) return html`<${Door} title="Choose a password"><${NoPasswords} /><//>`;
  if (isDone) {
    return html`<${Door} title="Your account is ready">
      <p>Your password is set and your email is confirmed.</p>
      <p><${Button} kind="primary" href="#/sign-in" class="whole">Sign in<//></p>
    <//>`;
  }
  return html`<${Door} title="Choose a password" below=${html`Already have one? <a href="#/sign-in">Sign in</a>`}>
    ${isSpent
      ? html`<${Notice} tone="warn">This link has been used or has expired. If you don’t have a password yet, <a href="#/forgot">request a new link</a>.<//>`
      : html`<form class="stack" novalidate onSubmit=${form.submit}>
          <p>You’ll use it to sign in. Setting it also confirms your email.</p>
          <${FormFailure} error=${form.failure} />
          <${Field} label="Password" type="password" autocomplete="new-password" autofocus hint=${PASSWORD_HINT} ...${form.field('password')} />
          <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Set password<//>
        </form>`}
  <//>`;
}
