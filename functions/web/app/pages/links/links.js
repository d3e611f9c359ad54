import { html } from '../../vendor/preact.js';
import { Page } from '../../ui/page.js';

export function LinksPage() {
  return html`<${Page} title="Links"><p>soon</p><//>`;
}
