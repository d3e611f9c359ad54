// What can be kept of a page: its numbers as CSV, one by one or all in a ZIP, its chart as a picture, and itself on paper.

import { html, useState } from '../../vendor/preact.js';
import { Icon } from '../../ui/icons.js';
import { Menu } from '../../ui/menu.js';
import { toastFailure } from '../../ui/toast.js';
import { printPage } from '../print/print.js';

const loadDownload = () => import('../download/download.js');

/** @typedef {Awaited<ReturnType<typeof loadDownload>>} Download */
/** @typedef {import('../download/download.js').TableFile} TableFile */
/** A table that is read, or one that is saved in another way, and isn't among all of them. @typedef {{ label: string } & ({ read: (part: Download) => TableFile | Promise<TableFile> } | { act: (part: Download) => unknown })} Keepable */
/**
 * @typedef {object} Kept what is shown
 * @property {string} name of files
 * @property {string} title of the picture
 * @property {import('../chart/chart.js').ChartProps} chart
 * @property {[string, string][]} about what the tables are about
 * @property {Keepable[]} items
 */

/** @param {{ kept?: Kept, onOpen?: () => void }} props nothing is kept while nothing is shown */
export function SaveMenu({ kept, onOpen }) {
  const [isBusy, setBusy] = useState(false);
  const run = (/** @type {(part: Download) => unknown} */ act) => async () => {
    setBusy(true);
    try {
      await act(await loadDownload());
    } catch (error) {
      toastFailure('Couldn’t save the file.', error);
    } finally {
      setBusy(false);
    }
  };
  const open = () => {
    // Pictures can only be copied right after the click.
    loadDownload().catch(() => {});
    onOpen?.();
  };
  const items = kept ? itemsOf(kept).map((item) => ({ ...item, act: run(item.act) })) : [{ label: 'No data yet', isDisabled: true }];
  return html`<${Menu} label="Download" class="button view-save" onOpen=${open} items=${items}>
    ${isBusy ? html`<span class="spinner" aria-hidden="true"></span>` : html`<${Icon} name="save" />`}<span>Download</span>
  <//>`;
}

/** @param {Kept} kept @returns {{ label: string, note?: string, group?: string, act: (part: Download) => unknown }[]} */
function itemsOf({ name, title, chart, about, items }) {
  const tables = items.flatMap((item) => ('read' in item ? [item.read] : []));
  return [
    { label: 'All tables', note: 'ZIP', act: (part) => part.saveTables(name, about, tables.map((read) => () => read(part))) },
    { label: 'Chart image', note: 'PNG', act: (part) => part.savePicture(`${name}-clicks`, title, chart) },
    { label: 'Copy chart image', act: (part) => part.copyPicture(`${name}-clicks`, title, chart) },
    { label: 'Print', note: 'or PDF', act: printPage },
    ...items.map((item) => ({
      note: 'CSV',
      group: 'Tables',
      ...('read' in item ? { label: item.label, act: async (/** @type {Download} */ part) => part.saveTable(await item.read(part)) } : item),
    })),
  ];
}
