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
    return html`<${Door} title="No more mail">
      <p>You get no more mail about links. Security mail still comes.</p>
      <p><${Button} class="whole" href=${CHOICES_VIEW}>Choose your mail<//></p>
    <//>`;
  }
  return html`<${Door} title="No more mail?" below=${!isSpent && html`<a href=${CHOICES_VIEW}>Choose your mail</a>`}>
    ${isSpent
      ? html`<${Notice} tone="warn">This link is too old. <a href=${CHOICES_VIEW}>Sign in and choose</a> which mail you get.<//>`
      : html`<form class="stack" novalidate onSubmit=${form.submit}>
          <p>Linklet mails you when something happens to your links, to URLs that you monitor, and to your jobs. You can stop that; you still read it in the application.</p>
          <${FormFailure} error=${form.failure} />
          <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Stop these mails<//>
        </form>`}
  <//>`;
}
