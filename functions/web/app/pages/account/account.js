import { html } from '../../vendor/preact.js';
import { Page } from '../../ui/page.js';

export function AccountPage() {
  return html`<${Page} title="Account"><p>This page isn’t there yet.</p><//>`;
}
