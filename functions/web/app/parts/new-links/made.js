import { html, useState } from '../../vendor/preact.js';
import { counted, cutMiddle, withoutScheme } from '../../core/format.js';
import { wordsOfMade } from '../../core/lists.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy.js';
import { toastFailure } from '../../ui/toast.js';

const SHOWN_TARGET = 90;
const SHOWN_AT_ONCE = 100;

/** A row that was sent: its link, or why there is none; `id` is its place in what was pasted. @typedef {{ id: number, url: string, code: string, title: string, link?: any, why?: string }} Made */

/** Links that were just made, to take along. @param {{ list: Made[] }} props in the order in which they were pasted, with those that have failed */
export function MadeLinks({ list }) {
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const done = list.filter(({ link }) => link);
  if (done.length === 0) return null;
  const short = done.map(({ link }) => link.short_url);
  return html`<section class="made-links" aria-label="Created">
    <header class="row">
      <h3>${counted(done.length, 'short link')}</h3>
      <${CopyButton} kind="plain" text=${short.join('\n')}>Copy all<//>
      <${CopyButton} kind="plain" text=${done.map(({ url }, index) => `${url}\t${short[index]}`).join('\n')}>Copy with URLs<//>
      <${Button} icon="save" onClick=${() => void saveMade(list)}>Download CSV<//>
    </header>
    <ul class="card flush">
      ${done.slice(0, most).map(
        ({ id, url, link }) => html`<li key=${id}>
          <div class="made-link">
            <p><span class="made-short">${withoutScheme(link.short_url)}</span>${link.reused && html` <span class="muted small">${noteOf(link)}</span>`}</p>
            <p class="made-target muted small" dir="ltr" title=${url}>${cutMiddle(withoutScheme(url), SHOWN_TARGET)}</p>
          </div>
          <${CopyButton} text=${link.short_url} label=${`Copy ${withoutScheme(link.short_url)}`} />
        </li>`,
      )}
    </ul>
    ${done.length > most && html`<p><${Button} class="compact" onClick=${() => setMost(most + SHOWN_AT_ONCE)}>Show more<//></p>`}
  </section>`;
}

/** @param {any} link one that was there */
const noteOf = (link) => `${wordsOfMade(link, undefined)}${link.ignored?.includes('tags') ? ' It keeps its tags.' : ''}`;

/** What the file says of each row that was sent. @param {Made[]} list */
export const tableOfMade = (list) =>
  list.map(({ url, code, title, link, why = '' }) => [link?.original_url ?? url, link?.short_url ?? '', link?.short_code ?? code, title, !link ? 'failed' : link.reused ? 'reused' : 'created', why]);

export const MADE_HEAD = ['original_url', 'short_url', 'short_code', 'title', 'result', 'error'];

/** @param {Made[]} list */
async function saveMade(list) {
  try {
    const { saveTable, tableOf } = await import('../../parts/download/download.js');
    saveTable(tableOf(`links-${new Date().toISOString().slice(0, 10)}`, MADE_HEAD, tableOfMade(list)));
  } catch (error) {
    toastFailure('Couldn’t save the file.', error);
  }
}
