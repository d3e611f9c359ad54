import { html } from '../../vendor/preact.js';
import { signOut } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { ask } from '../../ui/dialog.js';
import { toastFailure } from '../../ui/toast.js';

export function WaysOut() {
  const everywhere = async () => {
    const isSure = await ask({
      title: 'Sign out everywhere?',
      text: 'All your sessions, including this one, end within a minute. API keys keep working.',
      action: 'Sign out everywhere',
      isDanger: true,
    });
    if (!isSure) return;
    await signOut({ everywhere: true }).catch((error) => toastFailure('Couldn’t sign you out.', error));
  };
  return html`<div class="stack">
    <p class="muted">Sign out everywhere if you’ve lost a device or used one that isn’t yours.</p>
    <p class="row"><${Button} icon="out" onClick=${() => signOut()}>Sign out here<//><${Button} onClick=${everywhere}>Sign out everywhere<//></p>
  </div>`;
}
