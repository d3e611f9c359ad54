import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
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
  const { form, isDone, isSpent } = useMailedToken(async (token) => {
    await call('POST /api/auth/address/keep', { anonymous: true, body: { token } });
    if (isIn) void refreshMe();
  });
  const below = isIn ? html`<a href="#/account">To your account</a>` : html`<a href="#/sign-in">Sign in</a>`;
  if (isDone) {
    return html`<${Door} title="Your address stays" below=${below}>
      <p>The other address can’t be confirmed any more.</p>
      <p>Was it somebody else who asked for it? Then they know your password: <a href="#/forgot">set a new one</a>.</p>
    <//>`;
  }
  return html`<${Door} title="Keep your address" below=${below}>
    ${isSpent
      ? html`<${Notice} tone="warn">Nothing is to be stopped with this link: it was used, it is older than 24 hours, or the other address was confirmed.<//>`
      : html`<form class="stack" novalidate onSubmit=${form.submit}>
          <p>Somebody who knows your password wants another address for your account. Stop that, and the account keeps the one to which the link was mailed.</p>
          <${FormFailure} error=${form.failure} />
          <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Keep my address<//>
        </form>`}
  <//>`;
}
