import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { invalidate } from '../../core/resource.js';
import { route } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { Door } from './door.js';
import { useMailedToken } from './mailed-token.js';

const OF_ALL = {
  what: 'Linklet emails you about your links, monitored URLs and jobs. You can stop that and still see everything in the app.',
  done: 'You won’t get emails about links anymore. You’ll still get security emails.',
};
const OF_A_REPORT = {
  what: 'Linklet emails you this report regularly. You can stop that and still see everything in the app.',
  done: 'You won’t get this report anymore. Other emails continue.',
};

// Who isn't signed in is there afterwards.
const CHOICES_VIEW = '#/account?view=mail';

/** Where each mail about links leads that somebody doesn't want: with the id of a report, only that one ends. */
export function UnsubscribePage() {
  const report = useStore(route).query.get('report') ?? undefined;
  const { form, isDone, isSpent } = useMailedToken(async (token) => {
    await call('POST /api/unsubscribe', { anonymous: true, query: { token, report } });
    invalidate(report ? 'reports' : 'mail');
  });
  const words = report ? OF_A_REPORT : OF_ALL;
  if (isDone) {
    return html`<${Door} title="You’re unsubscribed">
      <p>${words.done}</p>
      <p><${Button} class="whole" href=${CHOICES_VIEW}>Email settings<//></p>
    <//>`;
  }
  return html`<${Door} title="Unsubscribe?" below=${!isSpent && html`<a href=${CHOICES_VIEW}>Email settings</a>`}>
    ${isSpent
      ? html`<${Notice} tone="warn">This link has expired. <a href=${CHOICES_VIEW}>Sign in</a> to choose which emails you get.<//>`
      : html`<form class="stack" novalidate onSubmit=${form.submit}>
          <p>${words.what}</p>
          <${FormFailure} error=${form.failure} />
          <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Unsubscribe<//>
        </form>`}
  <//>`;
}
