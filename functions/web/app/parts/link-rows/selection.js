// The bar that appears when links are selected.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { counted, number } from '../../core/format.js';
import { deleteMany, switchOffMany, tagMany } from '../link-changes/link-changes.js';
import { Button } from '../../ui/button.js';
import { Lazy } from '../../ui/lazy.js';
import { mayChange } from './row.js';

/** @typedef {import('../../core/lists.js').Link} Link */

/**
 * @param {{ links: Link[], list: import('../../pages/links/link-list.js').LinkList, selectAll: () => void, clear: () => void }} props `links` are the selected ones
 */
export function SelectionBar({ links, list, selectAll, clear }) {
  const [progress, setProgress] = useState(/** @type {[number, number] | null} */ (null));
  const [isTagging, setTagging] = useState(false);
  const changeable = links.filter((link) => mayChange(link) && link.status !== 'deleted');
  const isNone = changeable.length === 0;
  // Toasts make room for the bar.
  useEffect(() => {
    document.body.classList.add('with-bar');
    return () => document.body.classList.remove('with-bar');
  }, []);

  /** @param {(progress: (done: number, all: number) => void) => Promise<boolean>} act */
  async function run(act) {
    const isDone = await act((done, all) => setProgress([done, all]));
    setProgress(null);
    if (isDone) clear();
  }

  const text = progress ? `${number(progress[0])} of ${number(progress[1])} …` : `${counted(links.length, 'link')} selected`;
  return html`<div class="selection" role="region" aria-label="Selected links">
    <p aria-live=${progress ? 'polite' : undefined}>${text}${!progress && changeable.length < links.length && html` <span class="muted">(${number(changeable.length)} that you can change)</span>`}</p>
    ${links.length < list.links.length && html`<${Button} kind="quiet" class="compact" onClick=${selectAll}>All ${number(list.links.length)}<//>`}
    <${Button} class="compact" icon="tag" disabled=${isNone || progress !== null} onClick=${() => setTagging(true)}>Tag<//>
    <${Button} class="compact" icon="power" disabled=${isNone || progress !== null} onClick=${() => run((tell) => switchOffMany(changeable, list, tell))}>Switch off<//>
    <${Button} class="compact" icon="trash" disabled=${isNone || progress !== null} onClick=${() => run((tell) => deleteMany(changeable, list, tell))}>Delete<//>
    <${Button} class="compact" kind="quiet" icon="close" label="Select none" onClick=${clear} />
    ${isTagging &&
    html`<${Lazy}
      load=${() => import('../link-form/link-form.js')}
      name="TagDialog"
      onFailure=${() => setTagging(false)}
      count=${changeable.length}
      onClose=${() => setTagging(false)}
      onTags=${(/** @type {string[]} */ tags) => {
        setTagging(false);
        run((tell) => tagMany(changeable, tags, list, tell));
      }}
    />`}
  </div>`;
}
