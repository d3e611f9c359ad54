import { html } from '../../vendor/preact.js';
import { Page } from '../../ui/page.js';

export function LinkPage() {
  return html`<${Page} title="Link"><p>This page isn’t there yet.</p><//>`;
}
