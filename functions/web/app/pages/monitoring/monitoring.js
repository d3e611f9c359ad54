import { html } from '../../vendor/preact.js';
import { Page } from '../../ui/page.js';

export function MonitoringPage() {
  return html`<${Page} title="Monitoring"><p>This page isn’t there yet.</p><//>`;
}
