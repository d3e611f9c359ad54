// What can be kept of a page: its numbers as CSV, and its chart as a picture.

import { html, useState } from '../../vendor/preact.js';
import { Icon } from '../../ui/icons.js';
import { Menu } from '../../ui/menu.js';
import { toastFailure } from '../../ui/toast.js';

const loadDownload = () => import('../download/download.js');

/** @typedef {Awaited<ReturnType<typeof loadDownload>>} Download */
/** @typedef {{ label: string, note: string, save: (part: Download) => unknown }} Keepable */

/** @param {{ items?: Keepable[], onOpen?: () => void }} props no items while nothing is shown */
export function SaveMenu({ items, onOpen }) {
  const [isBusy, setBusy] = useState(false);
  const run = (/** @type {Keepable['save']} */ save) => async () => {
    setBusy(true);
    try {
      await save(await loadDownload());
    } catch (error) {
      toastFailure('Couldn’t save the file.', error);
    } finally {
      setBusy(false);
    }
  };
  const shown = items?.map(({ label, note, save }) => ({ label, note, act: run(save) }));
  return html`<${Menu} label="Download" class="button view-save" onOpen=${onOpen} items=${shown ?? [{ label: 'No data yet', isDisabled: true }]}>
    ${isBusy ? html`<span class="spinner" aria-hidden="true"></span>` : html`<${Icon} name="save" />`}<span>Download</span>
  <//>`;
}
