import { html } from '../../vendor/preact.js';
import { Page } from '../../ui/page.js';

export function SettingsPage() {
  return html`<${Page} title="Settings"><p>This page isn’t there yet.</p><//>`;
}
