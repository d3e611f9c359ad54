// Ways to a new link from any page: a bookmarklet, and a phone's share menu.

import { html } from '../../vendor/preact.js';
import { apiUrl } from '../../core/address.js';
import { CopyField } from '../../parts/copy-field/copy-field.js';
import { Card } from '../../ui/page.js';
import { toast } from '../../ui/toast.js';

export function FromAnywhere() {
  const code = `javascript:void open(${JSON.stringify(apiUrl('/app'))}+'?url='+encodeURIComponent(location.href)+'&title='+encodeURIComponent(document.title))`;
  // Here it would shorten this page, and the security policy forbids it.
  const explain = (/** @type {Event} */ event) => {
    event.preventDefault();
    toast('Drag this button to your bookmarks bar, or copy its address below.');
  };
  return html`<${Card} title="Shorten from anywhere">
    <div class="stack">
      <p class="muted">Opens a new link with the address of the page you’re on. You check it before it’s created.</p>
      <p class="row"><a class="button plain" href=${code} onClick=${explain}>Shorten with Linklet</a><span class="hint">Drag this to your bookmarks bar.</span></p>
      <${CopyField} label="Bookmarklet" text=${code} hint="Without dragging: copy this, bookmark any page (Ctrl or ⌘ + D), then edit the bookmark and paste this as its URL." />
      <p class="hint">On a phone, add Linklet to your home screen from the browser’s menu. On Android, it’s then in the Share menu of other apps.</p>
    </div>
  <//>`;
}
