import { html } from '../../vendor/preact.js';
import { Page } from '../../ui/page.js';

export function MembersPage() {
  return html`<${Page} title="Members"><p>This page isn’t there yet.</p><//>`;
}
