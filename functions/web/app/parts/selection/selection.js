// The bar that appears when links are selected.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { counted, number } from '../../core/format.js';
import { href, navigate } from '../../core/router.js';
import { Button } from '../../ui/button.js';
import { Lazy } from '../../ui/lazy.js';
import { mayChange } from '../link-rows/row.js';
import { archiveMany, deleteMany, switchMany, tagMany } from './many.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {import('./many.js').Progress} Progress */

/** More lines than these can't be told from each other. */
const MOST_COMPARED = 5;

/**
 * @param {{ links: Link[], list: import('../../pages/links/link-list.js').LinkList, selectAll: () => void, clear: () => void }} props `links` are the selected ones
 */
export function SelectionBar({ links, list, selectAll, clear }) {
  const [progress, setProgress] = useState(/** @type {[number, number] | null} */ (null));
  const [isTagging, setTagging] = useState(false);
  const changeable = links.filter((link) => mayChange(link) && link.status !== 'deleted');
  const isStill = changeable.length === 0 || progress !== null;
  const here = changeable.filter((link) => !link.archived);
  const away = changeable.filter((link) => link.archived);
  const on = changeable.filter((link) => link.is_active);
  const off = changeable.filter((link) => !link.is_active);
  // Toasts make room for the bar.
  useEffect(() => {
    document.body.classList.add('with-bar');
    return () => document.body.classList.remove('with-bar');
  }, []);

  /** @param {(progress: Progress) => Promise<boolean>} act */
  async function run(act) {
    const isDone = await act((done, all) => setProgress([done, all]));
    setProgress(null);
    if (isDone) clear();
  }

  const mayCompare = links.length > 1 && links.length <= MOST_COMPARED;
  const compare = () => navigate(href('compare', { codes: links.map((link) => link.short_code).join() }));

  const text = progress ? `${number(progress[0])} of ${number(progress[1])} …` : `${counted(links.length, 'link')} selected`;
  const action = (/** @type {string} */ label, /** @type {import('../../ui/icons.js').IconName} */ icon, /** @type {() => void} */ act) =>
    html`<${Button} key=${label} class="compact" icon=${icon} disabled=${isStill} onClick=${act}>${label}<//>`;
  return html`<div class="selection" role="region" aria-label="Selected links">
    <${Button} class="compact" kind="quiet" icon="close" label="Select none" onClick=${clear} />
    <p aria-live=${progress ? 'polite' : undefined}>${text}${!progress && changeable.length < links.length && html` <span class="muted">(${number(changeable.length)} that you can change)</span>`}</p>
    ${links.length < list.links.length && html`<${Button} kind="quiet" class="compact" onClick=${selectAll}>All ${number(list.links.length)}<//>`}
    <${Button} class="compact selection-compare" icon="chart" disabled=${!mayCompare || progress !== null} title=${mayCompare ? undefined : `Select two to ${MOST_COMPARED} links to compare them.`} onClick=${compare}>Compare<//>
    <div class="selection-actions" role="group" aria-label="For the selected links">
      ${action('Tags', 'tag', () => setTagging(true))}
      ${(here.length > 0 || away.length === 0) && action('Archive', 'archive', () => run((tell) => archiveMany(here, true, list, tell)))}
      ${away.length > 0 && action('Bring back', 'archive', () => run((tell) => archiveMany(away, false, list, tell)))}
      ${off.length > 0 && action('Switch on', 'power', () => run((tell) => switchMany(off, true, list, tell)))}
      ${(on.length > 0 || off.length === 0) && action('Switch off', 'power', () => run((tell) => switchMany(on, false, list, tell)))}
      ${action('Delete', 'trash', () => run((tell) => deleteMany(changeable, list, tell)))}
    </div>
    ${isTagging &&
    html`<${Lazy}
      load=${() => import('../link-form/link-form.js')}
      name="TagsDialog"
      onFailure=${() => setTagging(false)}
      links=${changeable}
      onClose=${() => setTagging(false)}
      onTags=${(/** @type {import('./many.js').TagChange} */ tags) => {
        setTagging(false);
        run((tell) => tagMany(changeable, tags, list, tell));
      }}
    />`}
  </div>`;
}
