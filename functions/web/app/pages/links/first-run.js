import { html } from '../../vendor/preact.js';
import { Empty } from '../../ui/states.js';

/** What a new workspace says of itself; the field for the first link is above. */
export function FirstRun() {
  return html`<${Empty} title="Paste a long URL above: your first link takes a second.">
    <ol class="first-steps">
      <li><strong>Copy</strong><span>The short link is in your clipboard at once.</span></li>
      <li><strong>Share</strong><span>In a mail, a post, or in print with its QR code.</span></li>
      <li><strong>Watch the numbers</strong><span>See how many people come, from where, and when. Bots are counted apart.</span></li>
    </ol>
  <//>`;
}
