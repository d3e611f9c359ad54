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
import { Radios } from './radios.js';

/** @typedef {{ mail: 'none' | 'important' | 'all' }} Chosen */

const CHOICES = [
  { value: 'none', label: 'None', hint: 'You read everything here, under Notifications.' },
  {
    value: 'important',
    label: 'What is important',
    hint: 'A link reaches a round number of clicks, expires or is used up; a URL that you monitor is down, or up again; a job of yours has ended.',
  },
  { value: 'all', label: 'Everything', hint: 'Whatever is under Notifications, such as each new link of yours.' },
];

export function MailChoices() {
  const resource = useResource('mail', () => call('GET /api/me/notifications'));
  const { rules, isKnown } = useRegistration();
  const waiting = html`<${Skeleton} rows=${4} height=${48} />`;
  if (!isKnown) return waiting;
  if (!rules.sends_mail) return html`<${NoMail} />`;
  return html`<${Loaded} of=${resource} what="Your choice can’t be shown." waiting=${waiting}>
    ${(/** @type {Chosen} */ chosen) => html`<${MailForm} chosen=${chosen} show=${resource.change} />`}
  <//>`;
}

function NoMail() {
  return html`<p>
    This Linklet sends no mails, not even about security. What happens to your links is under <a href=${href('notifications')}>Notifications</a>, and what
    happens to your account under <a href=${href('account', { view: 'activity' })}>Activity</a>.
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
  const lacks = me?.undeliverable ? 'mail to it came back' : me?.verified === false ? 'nobody has confirmed yet that it is yours' : '';
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    ${lacks && html`<${Notice} tone="warn">None of it is sent to <bdi>${me?.email}</bdi> at the moment: ${lacks}. <a href=${href('account')}>Confirm your address</a><//>`}
    <${FormFailure} error=${form.failure} />
    <${Radios} legend="Mail about your links" value=${form.values.mail} options=${CHOICES} onChange=${(/** @type {string} */ mail) => form.set('mail', mail)} />
    <p class="hint">Mail about security always comes: when your password, your address, your API keys or what you may do in a workspace change, and when somebody signs in to your account from a new place.</p>
    <p><${Button} kind="primary" type="submit" isBusy=${form.isBusy} disabled=${!form.isDirty}>Save<//></p>
  </form>`;
}
