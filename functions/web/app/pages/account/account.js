// Who one is, and all that is one's own whatever workspace one is in.

import { html, useEffect } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { route, setQuery } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { ACCOUNT_VIEWS } from '../../parts/account-views/account-views.js';
import { ClosedWorkspaces } from '../../parts/closed/closed.js';
import { AuditLog } from '../../parts/audit-log/audit-log.js';
import { Choice } from '../../ui/chips.js';
import { Card, Page } from '../../ui/page.js';
import { CloseAccount } from './close-account.js';
import { Identities } from './identities.js';
import { MailChoices, MailedReports } from './mail.js';
import { MyData } from './my-data.js';
import { Password } from './password.js';
import { Profile } from './profile.js';
import { Sessions } from './sessions.js';
import { WaysOut } from './ways-out.js';

/** @type {Record<string, () => unknown>} */
const CARDS = {
  '': () => html`<${ClosedWorkspaces} /><${Profile} />`,
  mail: () => html`<${Card} title="Email"><${MailChoices} /><//><${MailedReports} />`,
  'sign-in': () => html`<${Identities} /><${Password} /><${Card} title="Active sessions"><${Sessions} /><//><${Card} title="Sign out"><${WaysOut} /><//>`,
  activity: () => html`<${Card} class="flush"><${AuditLog} isOwn resource="audit-log:own" read=${readAuditLog} label="Account activity" none="No activity yet." /><//>`,
  data: () => html`<${Card} title="Your data"><${MyData} /><//><${CloseAccount} />`,
};

export function AccountPage() {
  const wanted = useStore(route).query.get('view') ?? '';
  const view = Object.hasOwn(CARDS, wanted) ? wanted : '';
  const show = (/** @type {string} */ value) => setQuery({ view: value }, { replace: false });
  // On a phone, they scroll.
  useEffect(() => document.querySelector('.account-views [aria-pressed="true"]')?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' }), [view]);
  return html`<${Page} title="Account">
    <div class="narrow">
      <div class="account-views"><${Choice} label="Account section" value=${view} options=${ACCOUNT_VIEWS} onChange=${show} /></div>
      ${CARDS[view]()}
    </div>
  <//>`;
}

/** @param {string} [cursor] */
const readAuditLog = (cursor) => call('GET /api/me/audit', { query: { after: cursor } });
