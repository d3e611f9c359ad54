// What the numbers are about: whose clicks, of which time, and what was pressed; each can be taken away again.

import { html } from '../../vendor/preact.js';
import { counted, fullTime, momentInText, number } from '../../core/format.js';
import { setQuery } from '../../core/router.js';
import { KINDS } from '../../parts/panels/panels.js';
import { AudienceChoice, RangeChoice } from '../../parts/times/times.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chips.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { toggled } from './asked.js';
import { DownloadMenu } from './download-menu.js';

/** @typedef {import('./read.js').View} View */
/** @typedef {import('../../parts/times/answer.js').Answer} Answer */

/** What has the focus when the last chip is gone. */
const FIRST = '.view-bar button';

/**
 * @param {object} props
 * @param {View} props.view
 * @param {string} props.url the short URL
 * @param {import('../../parts/times/period.js').Period} props.period
 * @param {import('./download-menu.js').Shown} [props.shown] what is on the page, once it was read
 * @param {Answer} [props.answer] of this view
 */
export function ViewBar({ view, url, period, shown, answer }) {
  const { part, focusLater } = useLaterFocus();
  return html`<div class="view" ref=${part}>
    <div class="view-bar">
      <${RangeChoice} period=${period} />
      <${AudienceChoice} audience=${view.audience} />
      <${DownloadMenu} view=${view} url=${url} shown=${shown} />
    </div>
    <${Chips} view=${view} focusLater=${focusLater} />
    <div class="view-note small-print" role="status"><${Covered} view=${view} answer=${answer} /></div>
  </div>`;
}

/** What is asked for: several values of one kind are alternatives. @param {{ view: View, focusLater: (selector: string) => void }} props */
function Chips({ view, focusLater }) {
  const { filter } = view;
  const chosen = KINDS.flatMap((kind) => (filter[kind.name] ?? []).map((value) => ({ kind, value, text: `${kind.one}: ${kind.nameOf(value)}` })));
  /** @param {number} at */
  const remove = (at) => {
    const { kind, value } = chosen[at];
    focusLater(chosen.length > 1 ? `.view-chips li:nth-child(${Math.min(at + 1, chosen.length - 1)}) button` : FIRST);
    setQuery({ [kind.name]: toggled(filter, kind.name, value) }, { replace: false });
  };
  const removeAll = () => {
    focusLater(FIRST);
    setQuery(Object.fromEntries(KINDS.map(({ name }) => [name, ''])), { replace: false });
  };
  if (chosen.length === 0) return null;
  return html`<div class="view-chips" role="group" aria-label="Active filters">
    <ul class="chips">
      ${chosen.map(({ kind, value, text }, at) => html`<li key=${`${kind.name} ${value}`}><${Chip} isOn title=${text} removeLabel=${`Remove ${text}`} onRemove=${() => remove(at)}>${text}<//></li>`)}
    </ul>
    ${chosen.length > 1 && html`<${Button} kind="quiet" class="compact" onClick=${removeAll}>Remove all<//>`}
  </div>`;
}

/** How many clicks fit, and of how many, if not all were looked at. @param {{ view: View, answer?: Answer }} props */
function Covered({ view, answer }) {
  if (!answer) return null;
  const { covers } = answer;
  if (covers) {
    const since = html`<time datetime=${covers.since} title=${fullTime(covers.since)}>${momentInText(covers.since)}</time>`;
    return html`Based on the latest ${number(covers.clicks)} of ${counted(covers.of, 'click')}, since ${since}.`;
  }
  return Object.keys(view.filter).length > 0 && html`<span class="hidden">${counted(answer.total_clicks, 'click')} match.</span>`;
}
