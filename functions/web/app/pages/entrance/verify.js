import { html, useState } from '../../vendor/preact.js';
import { ApiError, call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { route } from '../../core/router.js';
import { refreshMe, session, signOut } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { Door } from './door.js';
import { Elsewhere } from './elsewhere.js';

/**
 * The link in a mail shows that somebody reads the address's mail. That the account is theirs as well, a session or a password
 * shows. Nothing happens before the button is pressed, since programs open the links in mails, too.
 */
export function VerifyPage() {
  const { query } = useStore(route);
  const { status } = useStore(session);
  const token = query.get('token') ?? '';
  const [state, setState] = useState(/** @type {'open' | 'others' | 'spent' | 'taken' | 'done'} */ ('open'));
  const isIn = status === 'in' || status === 'over';

  /** @param {string} [password] */
  async function confirm(password) {
    try {
      await call('POST /api/auth/verify', { anonymous: password !== undefined, body: { token, password } });
    } catch (error) {
      const code = error instanceof ApiError ? error.code : '';
      if (code === 'token_invalid') return setState('spent');
      if (code === 'email_taken') return setState('taken');
      if (code === 'forbidden') return setState('others');
      throw error;
    }
    setState('done');
    if (isIn) refreshMe();
  }

  if (state === 'done') {
    return html`<${Door} title="Email confirmed">
      <p>Thanks. You’ll get emails about your links.</p>
      <p><${Button} kind="primary" class="whole" href=${isIn ? '#/links' : '#/sign-in'}>${isIn ? 'Go to your links' : 'Sign in'}<//></p>
    <//>`;
  }
  if (state === 'taken') {
    return html`<${Door} title="Confirm your email" below=${html`<a href=${isIn ? '#/account' : '#/sign-in'}>${isIn ? 'Go to your account' : 'Back to sign-in'}</a>`}>
      <${Notice} tone="warn">Another account now uses this email. Your account keeps its current one.<//>
    <//>`;
  }
  return html`<${Door} title="Confirm your email" below=${isIn ? html`<a href="#/links">Not now</a>` : html`<a href="#/sign-in">Back to sign-in</a>`}>
    ${!token || state === 'spent'
      ? html`<${Notice} tone="warn">This link has been used or has expired. Get a new one under <a href="#/account">Account</a> or when you sign in.<//>`
      : isIn && state === 'open'
        ? html`<${BySession} confirm=${confirm} />`
        : html`<${ByPassword} confirm=${confirm} isOthers=${isIn} />`}
  <//>`;
}

/** @param {{ confirm: () => Promise<void> }} props */
function BySession({ confirm }) {
  const { email } = useStore(session);
  const form = useForm({}, () => confirm());
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <p>You’re signed in as <strong><bdi>${email}</bdi></strong>. Confirm that the email this link was sent to is yours to get emails about your links there. If you asked to change your email, it becomes your new one.</p>
    <${FormFailure} error=${form.failure} />
    <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Confirm email<//>
  </form>`;
}

/** @param {{ confirm: (password: string) => Promise<void>, isOthers: boolean }} props `isOthers`: somebody is signed in, to another account */
function ByPassword({ confirm, isOthers }) {
  const { email } = useStore(session);
  const { rules } = useRegistration();
  const form = useForm({ password: '' }, ({ password }) => confirm(password).catch(blamePassword), {
    check: ({ password }) => ({ password: password ? undefined : 'Enter the account’s password.' }),
  });
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    ${isOthers
      ? html`<${Notice} tone="warn">This link is for another account. You’re signed in as <strong><bdi>${email}</bdi></strong>.<//>`
      : html`<p>Someone used this email for an account here. If it was you, ${rules.password_login ? 'enter your account’s password' : 'sign in'}.</p>`}
    ${rules.password_login &&
    html`<${FormFailure} error=${form.failure} />
      <${Field} label=${isOthers ? 'That account’s password' : 'Password'} type="password" autocomplete="current-password" autofocus ...${form.field('password')} />
      <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Confirm email<//>`}
    ${isOthers
      ? html`<${Button} kind="quiet" onClick=${() => signOut()}>Sign out<//>`
      : !rules.password_login
      ? html`<${Elsewhere} />`
      : html`<p class="small"><a href="#/forgot">Forgot your password?</a></p>
          <p class="small-print">
            Never signed up here? Then someone else used your email. <a href="#/forgot">Set a new password</a> to take the
            account over. Its API keys and the people it let in are then paused.
          </p>`}
  </form>`;
}

/** A wrong password is the field's fault. @param {unknown} error */
function blamePassword(error) {
  if (!(error instanceof ApiError) || error.code !== 'invalid_credentials') throw error;
  throw new ApiError('problem', 'Wrong password.', { status: error.status, code: error.code, field: 'password' });
}
