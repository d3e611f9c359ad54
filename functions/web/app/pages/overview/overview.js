import { html } from '../../vendor/preact.js';
import { Page } from '../../ui/page.js';

export function OverviewPage() {
  return html`<${Page} title="Overview"><p>This page isn’t there yet.</p><//>`;
}
