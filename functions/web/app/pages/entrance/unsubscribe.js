import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { invalidate } from '../../core/resource.js';
import { Button } from '../../ui/button.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { Door } from './door.js';
import { useMailedToken } from './mailed-token.js';

// Who isn't signed in is there afterwards.
const CHOICES_VIEW = '#/account?view=mail';

/** Where each mail about links leads that somebody doesn't want. */
export function UnsubscribePage() {
  const { form, isDone, isSpent } = useMailedToken(async (token) => {
    await call('POST /api/unsubscribe', { anonymous: true, query: { token } });
    invalidate('mail');
  });
  if (isDone) {
    return html`<${Door} title="You’re unsubscribed">
      <p>You won’t get emails about links anymore. You’ll still get security emails.</p>
      <p><${Button} class="whole" href=${CHOICES_VIEW}>Email settings<//></p>
    <//>`;
  }
  return html`<${Door} title="Unsubscribe?" below=${!isSpent && html`<a href=${CHOICES_VIEW}>Email settings</a>`}>
    ${isSpent
      ? html`<${Notice} tone="warn">This link has expired. <a href=${CHOICES_VIEW}>Sign in</a> to choose which emails you get.<//>`
      : html`<form class="stack" novalidate onSubmit=${form.submit}>
          <p>Linklet emails you about your links, monitored URLs and jobs. You can stop that and still see everything in the app.</p>
          <${FormFailure} error=${form.failure} />
          <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Unsubscribe<//>
        </form>`}
  <//>`;
}
