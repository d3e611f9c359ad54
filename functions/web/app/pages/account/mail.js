// Which mail one wants.

import { html, useEffect } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { href } from '../../core/router.js';
import { useResource } from '../../core/resource.js';
import { session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { FormFailure, Loaded, Notice, Skeleton } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { Card } from '../../ui/page.js';
import { Reports } from '../../parts/reports/reports.js';
import { Radios } from './radios.js';

/** @typedef {{ mail: 'none' | 'important' | 'all' }} Chosen */

const CHOICES = [
  { value: 'none', label: 'None', hint: 'You can still see everything under Notifications.' },
  {
    value: 'important',
    label: 'Important only',
    hint: 'Click milestones, links that expire or reach their click limit, outages of monitored URLs, and finished jobs.',
  },
  { value: 'all', label: 'Everything', hint: 'All notifications, such as each link you create.' },
];

export function MailChoices() {
  const resource = useResource('mail', () => call('GET /api/me/notifications'));
  const { rules, isKnown } = useRegistration();
  const waiting = html`<${Skeleton} rows=${4} height=${48} />`;
  if (!isKnown) return waiting;
  if (!rules.sends_mail) return html`<${NoMail} />`;
  return html`<${Loaded} of=${resource} what="Couldn’t load your email settings." waiting=${waiting}>
    ${(/** @type {Chosen} */ chosen) => html`<${MailForm} chosen=${chosen} show=${resource.change} />`}
  <//>`;
}

/** Those of the workspace that one is in. */
export function MailedReports() {
  const { isNowhere } = useStore(session);
  const { rules, isKnown } = useRegistration();
  return !isNowhere && isKnown && rules.sends_mail && html`<${Card} title="Reports by email"><${Reports} /><//>`;
}

function NoMail() {
  return html`<p>
    This Linklet doesn’t send email, not even security alerts. See <a href=${href('notifications')}>Notifications</a> for your links and
    <a href=${href('account', { view: 'activity' })}>Activity</a> for your account.
  </p>`;
}

/** @param {{ chosen: Chosen, show: (change: () => Chosen) => void }} props */
function MailForm({ chosen, show }) {
  const { me } = useStore(session);
  const form = useForm(
    { mail: chosen.mail },
    async (body) => {
      const saved = await call('PATCH /api/me/notifications', { body });
      show(() => saved);
      toast('Saved.');
    },
    { keeps: true },
  );
  useEffect(() => {
    // It may have been changed elsewhere.
    if (!form.isDirty) form.begin({ mail: chosen.mail });
  }, [chosen.mail]);
  const lacks = me?.undeliverable ? 'an email to it bounced' : me?.verified === false ? 'it isn’t confirmed yet' : '';
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    ${lacks && html`<${Notice} tone="warn">We don’t send these to <bdi>${me?.email}</bdi> because ${lacks}. <a href=${href('account')}>Confirm your email</a><//>`}
    <${FormFailure} error=${form.failure} />
    <${Radios} legend="Emails about your links" value=${form.values.mail} options=${CHOICES} onChange=${(/** @type {string} */ mail) => form.set('mail', mail)} />
    <p class="hint">You always get security emails: when your password, email, API keys or role in a workspace change, and when someone signs in from a new place.</p>
    <p><${Button} kind="primary" type="submit" isBusy=${form.isBusy} disabled=${!form.isDirty}>Save<//></p>
  </form>`;
}
