import { html, useState } from '../../vendor/preact.js';
import { ApiError, call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { route } from '../../core/router.js';
import { refreshMe, session, signOut } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { Door } from './door.js';

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
    return html`<${Door} title="Address confirmed">
      <p>Thank you. Mails about your links will reach you.</p>
      <p><${Button} kind="primary" class="whole" href=${isIn ? '#/links' : '#/sign-in'}>${isIn ? 'To your links' : 'Sign in'}<//></p>
    <//>`;
  }
  if (state === 'taken') {
    return html`<${Door} title="Confirm your address" below=${html`<a href=${isIn ? '#/account' : '#/sign-in'}>${isIn ? 'To your account' : 'Back to signing in'}</a>`}>
      <${Notice} tone="warn">Somebody has made an account with this address meanwhile. Yours keeps the address that it has.<//>
    <//>`;
  }
  return html`<${Door} title="Confirm your address" below=${isIn ? html`<a href="#/links">Not now</a>` : html`<a href="#/sign-in">Back to signing in</a>`}>
    ${!token || state === 'spent'
      ? html`<${Notice} tone="warn">This link was used already, or is too old. You get another one under <a href="#/account">Account</a>, or when you sign in.<//>`
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
    <p>You are signed in as <strong><bdi>${email}</bdi></strong>. Confirm that the address to which this link was mailed is yours: mails about your links will reach you there, and if it is another one that you have asked for, your account has it from now on.</p>
    <${FormFailure} error=${form.failure} />
    <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Confirm this address<//>
  </form>`;
}

/** @param {{ confirm: (password: string) => Promise<void>, isOthers: boolean }} props `isOthers`: somebody is signed in, to another account */
function ByPassword({ confirm, isOthers }) {
  const { email } = useStore(session);
  const form = useForm({ password: '' }, ({ password }) => confirm(password).catch(blamePassword), {
    check: ({ password }) => ({ password: password ? undefined : 'Enter the password of the account.' }),
  });
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    ${isOthers
      ? html`<${Notice} tone="warn">This link is for another account. You are signed in as <strong><bdi>${email}</bdi></strong>.<//>`
      : html`<p>The address to which this link was mailed was given here as somebody’s. If it was you, enter the password of your account.</p>`}
    <${FormFailure} error=${form.failure} />
    <${Field} label=${isOthers ? 'Password of that account' : 'Password'} type="password" autocomplete="current-password" autofocus ...${form.field('password')} />
    <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Confirm this address<//>
    ${isOthers
      ? html`<${Button} kind="quiet" onClick=${() => signOut()}>Sign out<//>`
      : html`<p class="small"><a href="#/forgot">Forgotten your password?</a></p>
          <p class="small-print">
            Never registered here? Then somebody else has, with your address. <a href="#/forgot">Set a new password</a>: the
            account is yours then, and API keys and people that were let in are paused.
          </p>`}
  </form>`;
}

/** A wrong password is the field's fault. @param {unknown} error */
function blamePassword(error) {
  if (!(error instanceof ApiError) || error.code !== 'invalid_credentials') throw error;
  throw new ApiError('problem', 'This isn’t the password of that account.', { status: error.status, code: error.code, field: 'password' });
}
