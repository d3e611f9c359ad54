import { html } from '../../vendor/preact.js';
import { Page } from '../../ui/page.js';

export function NotificationsPage() {
  return html`<${Page} title="Notifications"><p>This page isn’t there yet.</p><//>`;
}
