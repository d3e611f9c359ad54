import { html } from '../../vendor/preact.js';
import { Page } from '../../ui/page.js';

export function KeysPage() {
  return html`<${Page} title="API keys"><p>This page isn’t there yet.</p><//>`;
}
