import { html, useEffect, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { route } from '../../core/router.js';
import { refreshMe, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { FormFailure, Notice, Skeleton } from '../../ui/states.js';
import { Door } from './door.js';

/** The link in a mail proves the address. */
export function VerifyPage() {
  const { query } = useStore(route);
  const { status } = useStore(session);
  const token = query.get('token') ?? '';
  const [result, setResult] = useState(/** @type {{ isDone?: boolean, error?: any }} */ ({}));

  useEffect(() => {
    call('POST /api/auth/verify', { anonymous: true, body: { token } }).then(
      () => {
        setResult({ isDone: true });
        if (status === 'in') refreshMe();
      },
      (error) => setResult({ error }),
    );
  }, [token]);

  if (result.isDone) {
    return html`<${Door} title="Address confirmed">
      <p>Thank you. Mails about your links will reach you.</p>
      <p><${Button} kind="primary" class="whole" href=${status === 'in' ? '#/links' : '#/sign-in'}>${status === 'in' ? 'To your links' : 'Sign in'}<//></p>
    <//>`;
  }
  return html`<${Door} title="Confirm your address">
    ${!result.error && html`<${Skeleton} rows=${2} />`}
    ${result.error?.code === 'token_invalid'
      ? html`<${Notice} tone="warn">This link was used already, or is too old. You get another one under <a href="#/account">Account</a>, or when you sign in.<//>`
      : html`<${FormFailure} error=${result.error} />`}
  <//>`;
}
