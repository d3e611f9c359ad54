import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { refreshMe } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/chips.js';
import { Failure } from '../../ui/states.js';

/** Whether the address is known to be one's own, and to be reached. @param {{ me: import('../../core/session.js').Me }} props */
export function Confirmation({ me }) {
  const [sending, setSending] = useState(/** @type {{ isBusy?: boolean, isSent?: boolean, error?: any }} */ ({}));
  if (me.verified && !me.undeliverable) return html`<${Status} tone="good">Yes<//>`;

  async function send() {
    setSending({ isBusy: true });
    try {
      await call('POST /api/auth/verification', { body: { email: me.email } });
      setSending({ isSent: true });
    } catch (error) {
      setSending({ error });
    }
  }

  const [state, why] = me.undeliverable
    ? [html`<${Status} tone="bad">Email bounced<//>`, 'An email to this address bounced. Confirm it again to get other emails.']
    : [html`<${Status} tone="warn">Not yet<//>`, 'To get emails about your links, open the link we emailed you.'];
  return html`<div class="stack tight">
    <p class="row">
      ${state}
      ${sending.isSent
        ? html`<${Button} kind="quiet" class="compact" icon="refresh" onClick=${refreshMe}>I’ve confirmed it<//>`
        : html`<${Button} class="compact" isBusy=${sending.isBusy} onClick=${send}>${me.undeliverable ? 'Confirm again' : 'Resend email'}<//>`}
    </p>
    <p class="hint" role="status">
      ${sending.isSent ? html`If this Linklet sends email, a link is on its way to <bdi>${me.email}</bdi>. It works for 24 hours.` : why}
    </p>
    ${sending.error && html`<${Failure} what="Couldn’t send the email." error=${sending.error} />`}
  </div>`;
}
