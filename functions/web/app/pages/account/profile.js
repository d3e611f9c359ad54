// What others see of one, and the address.

import { html, useEffect } from '../../vendor/preact.js';
import { onComingBack } from '../../core/coming-back.js';
import { refreshMe, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Facts } from '../../ui/facts.js';
import { Card } from '../../ui/page.js';
import { Skeleton } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { Address } from './address.js';
import { Confirmation } from './confirmation.js';
import { Name } from './name.js';

export function Profile() {
  const { email, me, hasFailed } = useStore(session);
  const isWaiting = me !== undefined && (me.verified === false || me.undeliverable || Boolean(me.pending_email));
  useEffect(() => (isWaiting ? onComingBack(refreshMe) : undefined), [isWaiting]);
  if (!me && !hasFailed) return html`<${Skeleton} height=${190} />`;
  const rows = [
    { name: 'Name', value: me ? html`<${Name} name=${me.full_name ?? ''} />` : html`<span class="muted">Unavailable</span>` },
    { name: 'Email', value: me ? html`<${Address} me=${me} />` : html`<bdi>${email}</bdi>` },
    me?.verified !== undefined && { name: 'Confirmed', value: html`<${Confirmation} me=${me} />` },
    me?.last_login_at && { name: 'Last signed in', value: html`<${Time} at=${me.last_login_at} />` },
  ];
  return html`<${Card} title="Profile"><${Facts} rows=${rows} /><//>`;
}
