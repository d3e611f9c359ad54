import { html } from '../../vendor/preact.js';
import { signOut } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { ask } from '../../ui/dialog.js';
import { toastFailure } from '../../ui/toast.js';

export function WaysOut() {
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
