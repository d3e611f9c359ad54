import { html } from '../../vendor/preact.js';
import { counted, cutMiddle, withoutScheme } from '../../core/format.js';
import { wordsOfMade } from '../../core/lists.js';
import { CopyButton } from '../../ui/copy.js';

const SHOWN_TARGET = 90;

/** A link, and the address for which it was made. @typedef {{ url: string, link: any }} Made */

/** Links that were just made, to take along. @param {{ list: Made[] }} props */
export function MadeLinks({ list }) {
  const short = list.map(({ link }) => link.short_url);
  return html`<section class="made-links" aria-label="Created">
    <header class="row">
      <h3>${counted(list.length, 'short link')}</h3>
      <${CopyButton} kind="plain" text=${short.join('\n')}>Copy all<//>
      <${CopyButton} kind="plain" text=${list.map(({ url }, index) => `${url}\t${short[index]}`).join('\n')}>Copy with URLs<//>
    </header>
    <ul class="card flush">
      ${list.map(
        ({ url, link }, index) => html`<li key=${index}>
          <div class="made-link">
            <p><span class="made-short">${withoutScheme(link.short_url)}</span>${link.reused && html` <span class="muted small">${noteOf(link)}</span>`}</p>
            <p class="made-target muted small" dir="ltr" title=${url}>${cutMiddle(withoutScheme(url), SHOWN_TARGET)}</p>
          </div>
          <${CopyButton} text=${link.short_url} label=${`Copy ${withoutScheme(link.short_url)}`} />
        </li>`,
      )}
    </ul>
  </section>`;
}

/** @param {any} link one that was there */
const noteOf = (link) => `${wordsOfMade(link, undefined)}${link.ignored?.includes('tags') ? ' It keeps its tags.' : ''}`;
