// Who one is: the address, the password, and the ways out.

import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { refreshMe, session, signOut } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/chips.js';
import { ask } from '../../ui/dialog.js';
import { Facts } from '../../ui/facts.js';
import { Card, Page } from '../../ui/page.js';
import { Failure, Skeleton } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { toastFailure } from '../../ui/toast.js';
import { PasswordForm } from './password-form.js';

export function AccountPage() {
  const { email, me, hasFailed } = useStore(session);
  const name = me ? me.full_name || html`<span class="muted">Not given</span>` : html`<span class="muted">Can’t be read at the moment</span>`;
  const rows = [
    { name: 'Email', value: html`<bdi>${email}</bdi>` },
    me?.verified !== undefined && { name: 'Confirmed', value: html`<${Confirmation} isVerified=${me.verified} email=${email} />` },
    { name: 'Name', value: html`<bdi>${name}</bdi>` },
    me?.last_login_at && { name: 'Last signed in', value: html`<${Time} at=${me.last_login_at} />` },
  ];
  if (!me && !hasFailed) return html`<${Page} title="Account"><div class="narrow"><${Skeleton} rows=${3} height=${168} /></div><//>`;
  return html`<${Page} title="Account">
    <div class="narrow">
      <${Card} title="You"><${Facts} rows=${rows} /><//>
      <${Card} title="Password"><${PasswordForm} /><//>
      <${Card} title="Sign out"><${WaysOut} /><//>
    </div>
  <//>`;
}

/** @param {{ isVerified: boolean, email: string }} props */
function Confirmation({ isVerified, email }) {
  const [sending, setSending] = useState(/** @type {{ isBusy?: boolean, isSent?: boolean, error?: any }} */ ({}));
  if (isVerified) return html`<${Status} tone="good">Yes<//>`;

  async function send() {
    setSending({ isBusy: true });
    try {
      await call('POST /api/auth/verification', { body: {} });
      setSending({ isSent: true });
    } catch (error) {
      setSending({ error });
    }
  }

  return html`<div class="stack tight">
    <p class="row">
      <${Status} tone="warn">Not yet<//>
      ${sending.isSent
        ? html`<${Button} kind="quiet" class="compact" icon="refresh" onClick=${refreshMe}>I have confirmed it<//>`
        : html`<${Button} class="compact" isBusy=${sending.isBusy} onClick=${send}>Send the mail again<//>`}
    </p>
    <p class="hint" role="status">
      ${sending.isSent
        ? html`If this Linklet sends mails, one is on its way to <bdi>${email}</bdi>. Its link works for 24 hours.`
        : 'Until you confirm it with the link that was mailed to you, you get no mails about your links.'}
    </p>
    ${sending.error && html`<${Failure} what="The mail wasn’t sent." error=${sending.error} />`}
  </div>`;
}

function WaysOut() {
  const everywhere = async () => {
    const isSure = await ask({
      title: 'Sign out everywhere?',
      text: 'All your sessions end, in this and all other browsers, within a minute. API keys go on working.',
      action: 'Sign out everywhere',
      isDanger: true,
    });
    if (!isSure) return;
    await signOut({ everywhere: true }).catch((error) => toastFailure('You weren’t signed out.', error));
  };
  return html`<div class="stack">
    <p class="muted">“Everywhere” is for when you have lost a device, or used one that isn’t yours.</p>
    <p class="row"><${Button} icon="out" onClick=${() => signOut()}>Sign out here<//><${Button} onClick=${everywhere}>Sign out everywhere<//></p>
  </div>`;
}
