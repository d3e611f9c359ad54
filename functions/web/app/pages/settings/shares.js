// All shares of statistics, for admins.

import { html } from '../../vendor/preact.js';
import { readAll } from '../../core/api.js';
import { useResource } from '../../core/resource.js';
import { ShareLines } from '../../parts/share/share.js';
import { Card } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';

export function Shares() {
  const resource = useResource('shares', () => readAll('shares', 'GET /api/shares'));
  return html`<${Card} title="Shared statistics">
    <${Loaded} of=${resource} what="Couldn’t load what is shared.">
      ${(/** @type {{ shares: import('../../parts/share/calls.js').Share[] }} */ { shares }) =>
        shares.length === 0 ? html`<p class="muted">Nothing is shared. Open a link or a tag and click “Share”.</p>` : html`<${ShareLines} shares=${shares} isOfAll />`}
    <//>
  <//>`;
}
