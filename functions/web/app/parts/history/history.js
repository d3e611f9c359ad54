// What was changed of a link, the latest first.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { nameOf, useMembers } from '../../core/lists.js';
import { Button } from '../../ui/button.js';
import { Failure, Skeleton } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { sentencesOf } from './sentences.js';

/** @typedef {import('./sentences.js').Change} Change */

const AT_ONCE = 20;

/** @param {{ code: string }} props */
export function LinkHistory({ code }) {
  const { changes, cursor, error, isBusy, more } = useHistory(code);
  // Who has given no name is known by an address, which members see.
  const members = useMembers({ isWanted: changes?.some(({ by_name }) => !by_name) ?? false });
  const nameOfAuthor = (/** @type {Change} */ { by, by_name }) => by_name || nameOf(members.data?.members.find((/** @type {any} */ member) => member.user_id === by));
  if (!changes || members.isLoading) return error ? html`<${Failure} what="The history can’t be shown." error=${error} retry=${more} />` : html`<${Skeleton} rows=${3} height=${40} />`;
  if (changes.length === 0) return html`<p class="muted history-none">Nothing was changed since this link was made.</p>`;
  return html`<ol class="lines history-list" aria-label="History">
      ${changes.map((change, at) => html`<${Entry} key=${`${change.at} ${at}`} change=${change} who=${nameOfAuthor(change)} />`)}
    </ol>
    ${error && html`<${Failure} what="No more could be loaded." error=${error} retry=${more} />`}
    ${cursor && !error && html`<p class="row"><${Button} isBusy=${isBusy} onClick=${more}>Load more<//></p>`}`;
}

/** @param {{ change: Change, who: string }} props */
function Entry({ change, who }) {
  return html`<li>
    <div class="line-text">
      ${sentencesOf(change.changes).map((sentence, at) => html`<p key=${at}><bdi>${who}</bdi> ${sentence}</p>`)}
    </div>
    <span class="small-print"><${Time} at=${change.at} /></span>
  </li>`;
}

/** What was read so far, and what reads more of it. @param {string} code */
function useHistory(code) {
  const [read, setRead] = useState({ changes: /** @type {Change[] | undefined} */ (undefined), cursor: /** @type {string | null} */ (null), error: /** @type {any} */ (undefined), isBusy: false });
  const isGone = useRef(false);
  const show = (/** @type {Partial<typeof read>} */ change) => isGone.current || setRead((before) => ({ ...before, ...change }));

  async function more() {
    show({ isBusy: true });
    try {
      const page = await call('GET /api/links/{code}/history', { path: { code }, query: { limit: AT_ONCE, cursor: read.cursor } });
      show({ changes: [...(read.changes ?? []), ...page.history], cursor: page.next_cursor, error: undefined, isBusy: false });
    } catch (error) {
      show({ error, isBusy: false });
    }
  }

  useEffect(() => {
    more();
    return () => {
      isGone.current = true;
    };
  }, []);
  return { ...read, more };
}
