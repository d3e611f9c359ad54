// Links of another system, from its file.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { route, setQuery } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Lazy } from '../../ui/lazy.js';
import { Card } from '../../ui/page.js';

export function Import() {
  const isWanted = useStore(route).query.get('open') === 'import';
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  useEffect(() => {
    if (!isWanted) return;
    // The drawer isn't part of the address, so "back" doesn't open it again.
    setQuery({ open: undefined });
    setOpen(true);
  }, [isWanted]);
  return html`<${Card} title="Import">
    <div class="stack">
      <p class="muted">Move here from Bitly, Dub, Short.io, Rebrandly, Shlink, YOURLS, Kutt, Polr, or Sink. Links keep their codes, dates, tags, and click totals. Single clicks become part of the statistics.</p>
      <p><${Button} onClick=${() => setOpen(true)}>Import links<//></p>
    </div>
    ${isOpen && html`<${Lazy} load=${() => import('../../parts/import/import.js')} name="ImportDrawer" onFailure=${close} onClose=${close} />`}
  <//>`;
}
