import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { PASSWORD_HINT, passwordError } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { route } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { Door } from './door.js';

/** Where an account begins without a password, the mail that confirms its address leads here. */
export function FirstPasswordPage() {
  const { query } = useStore(route);
  const token = query.get('token') ?? '';
  const [isDone, setDone] = useState(false);
  const form = useForm(
    { password: '' },
    async ({ password }) => {
      await call('POST /api/auth/verify', { anonymous: true, body: { token, password } });
      setDone(true);
    },
    { check: ({ password }) => ({ password: passwordError(password) }) },
  );
  if (isDone) {
    return html`<${Door} title="Your account is ready">
      <p>The password is set, and your address is confirmed.</p>
      <p><${Button} kind="primary" href="#/sign-in" class="whole">Sign in<//></p>
    <//>`;
  }
  // With a password that was chosen meanwhile, another one is a wrong one.
  const isSpent = !token || ['token_invalid', 'invalid_credentials'].includes(form.failure?.code ?? '');
  return html`<${Door} title="Choose a password" below=${html`Have one already? <a href="#/sign-in">Sign in</a>`}>
    ${isSpent
      ? html`<${Notice} tone="warn">This link was used already, or is too old. If you have no password yet, <a href="#/forgot">ask for another link</a>.<//>`
      : html`<form class="stack" novalidate onSubmit=${form.submit}>
          <p>You sign in with it from now on. It also confirms that the address to which the link was mailed is yours.</p>
          <${FormFailure} error=${form.failure} />
          <${Field} label="Password" type="password" autocomplete="new-password" autofocus hint=${PASSWORD_HINT} ...${form.field('password')} />
          <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Set password<//>
        </form>`}
  <//>`;
}
