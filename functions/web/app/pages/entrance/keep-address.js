import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { useRegistration } from '../../core/registration.js';
import { refreshMe, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { Door } from './door.js';
import { useMailedToken } from './mailed-token.js';

/** Where the mail leads that tells the present address of another one. */
export function KeepAddressPage() {
  const { status } = useStore(session);
  const isIn = status === 'in' || status === 'over';
  const { password_login: hasPasswords } = useRegistration().rules;
  const { form, isDone, isSpent } = useMailedToken(async (token) => {
    await call('POST /api/auth/address/keep', { anonymous: true, body: { token } });
    if (isIn) void refreshMe();
  });
  const below = isIn ? html`<a href="#/account">Go to your account</a>` : html`<a href="#/sign-in">Sign in</a>`;
  if (isDone) {
    return html`<${Door} title="Your email stays the same" below=${below}>
      <p>The other email can no longer be confirmed.</p>
      <p>If you didn’t request the change, someone else can use your account. ${hasPasswords && html`<a href="#/forgot">Set a new password</a>`}</p>
    <//>`;
  }
  return html`<${Door} title="Keep your email" below=${below}>
    ${isSpent
      ? html`<${Notice} tone="warn">This link no longer works. It was used, is older than 24 hours, or the other email was confirmed.<//>`
      : html`<form class="stack" novalidate onSubmit=${form.submit}>
          <p>Someone who can use your account asked to change its email. Cancel that to keep the email this link was sent to.</p>
          <${FormFailure} error=${form.failure} />
          <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Keep my email<//>
        </form>`}
  <//>`;
}
