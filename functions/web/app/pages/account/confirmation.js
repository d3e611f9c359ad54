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
    ? [html`<${Status} tone="bad">Mail came back<//>`, 'Mail to this address came back. Confirm it again: until then, you get no other mails.']
    : [html`<${Status} tone="warn">Not yet<//>`, 'Until you confirm it with the link that was mailed to you, you get no mails about your links.'];
  return html`<div class="stack tight">
    <p class="row">
      ${state}
      ${sending.isSent
        ? html`<${Button} kind="quiet" class="compact" icon="refresh" onClick=${refreshMe}>I have confirmed it<//>`
        : html`<${Button} class="compact" isBusy=${sending.isBusy} onClick=${send}>${me.undeliverable ? 'Confirm it again' : 'Send the mail again'}<//>`}
    </p>
    <p class="hint" role="status">
      ${sending.isSent ? html`If this Linklet sends mails, one is on its way to <bdi>${me.email}</bdi>. Its link works for 24 hours.` : why}
    </p>
    ${sending.error && html`<${Failure} what="The mail wasn’t sent." error=${sending.error} />`}
  </div>`;
}
