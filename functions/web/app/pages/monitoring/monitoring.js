// The URLs that are checked, and one of them: `#/monitoring/<id>`.

import { html } from '../../vendor/preact.js';
import { route } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { TargetList } from './target-list.js';
import { TargetPage } from './target-page.js';

export function MonitoringPage() {
  const { parts } = useStore(route);
  return parts.length > 1 ? html`<${TargetPage} key=${parts[1]} id=${parts[1]} />` : html`<${TargetList} />`;
}
