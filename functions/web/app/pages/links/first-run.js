import { html } from '../../vendor/preact.js';
import { href } from '../../core/router.js';
import { Empty } from '../../ui/states.js';

/** What a new workspace says of itself; the field for the first link is above. */
export function FirstRun() {
  const move = html`<p class="muted">Moving from Bitly, Dub, Short.io, Rebrandly, Shlink, YOURLS, or Kutt? <a href=${href('settings', { open: 'import' })}>Import your links</a></p>`;
  return html`<${Empty} title="Paste a long URL above to create your first link" action=${move}>
    <ol class="first-steps">
      <li><strong>Copy</strong><span>The short link goes straight to your clipboard.</span></li>
      <li><strong>Share</strong><span>In an email, a post, or in print with its QR code.</span></li>
      <li><strong>Track clicks</strong><span>See how many people click, from where, and when. Bots are counted separately.</span></li>
    </ol>
  <//>`;
}
