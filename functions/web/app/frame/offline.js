import { html } from '../vendor/preact.js';
import { connection } from '../core/connection.js';
import { useStore } from '../core/store.js';

/** Says that there is no connection, for as long as there is none. */
export function OfflineBar() {
  const { isOnline } = useStore(connection);
  return html`<div class="offline-region" role="status">
    ${!isOnline &&
    html`<p class="offline"><strong>No connection.</strong> You can keep reading, and nothing you type is lost.</p>`}
  </div>`;
}
