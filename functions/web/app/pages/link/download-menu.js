// What can be kept of the page: its numbers as CSV, and the chart as a picture.

import { html, useState } from '../../vendor/preact.js';
import { KINDS } from '../../parts/panels/panels.js';
import { queryOf } from '../../parts/times/times.js';
import { Icon } from '../../ui/icons.js';
import { Menu } from '../../ui/menu.js';
import { toastFailure } from '../../ui/toast.js';
import { timeOf } from './read.js';

/** @typedef {import('../../parts/times/answer.js').Answer & { period: import('../../parts/times/period.js').Period }} ShownAnswer */
/** What is on the page, as it is drawn. @typedef {{ answer: ShownAnswer, chart: import('../../parts/chart/chart.js').ChartProps }} Shown */

const loadDownload = () => import('../../parts/download/download.js');

/** @param {{ view: import('./read.js').View, shown?: Shown }} props */
export function DownloadMenu({ view, shown }) {
  const [isBusy, setBusy] = useState(false);
  const { code } = view;

  /** @param {(part: Awaited<ReturnType<typeof loadDownload>>) => Promise<unknown>} save */
  const run = (save) => async () => {
    setBusy(true);
    try {
      await save(await loadDownload());
    } catch (error) {
      toastFailure('This couldn’t be saved.', error);
    } finally {
      setBusy(false);
    }
  };
  const query = () => queryOf(timeOf(view), view.audience, view.filter);
  const table = (/** @type {string} */ name) => run((part) => part.saveTable(code, name, { ...query(), interval: timeOf(view).unit }));
  const kinds = KINDS.filter(({ name }) => name !== 'destination' || shown?.answer.destinations.length);
  const items = shown && [
    { label: 'Chart as a picture', note: 'PNG', act: run((part) => part.savePicture(`${code}-clicks`, `${code}: ${shown.chart.label}`, shown.chart)) },
    { label: 'Clicks over time', note: 'CSV', act: table('series') },
    ...kinds.map(({ title, table: name }) => ({ label: title, note: 'CSV', act: table(name) })),
    { label: 'Single clicks', note: 'CSV', act: run((part) => part.saveClicks(code, query())) },
  ];
  return html`<${Menu} label="Download" class="button view-save" items=${items ?? [{ label: 'Nothing yet', isDisabled: true }]}>
    ${isBusy ? html`<span class="spinner" aria-hidden="true"></span>` : html`<${Icon} name="save" />`}<span>Download</span>
  <//>`;
}
