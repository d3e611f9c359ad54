// What was changed of a link, the latest first.

import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { nameOf, useMembers } from '../../core/lists.js';
import { SkeletonText } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { Further, useFurther } from '../further/further.js';
import { sentencesOf } from './sentences.js';

/** @typedef {import('./sentences.js').Change} Change */

const AT_ONCE = 20;

/** @param {{ code: string }} props */
export function LinkHistory({ code }) {
  const list = useFurther('history', (after, signal) => call('GET /api/links/{code}/history', { path: { code }, query: { limit: AT_ONCE, after }, signal }));
  /** @type {Change[]} */
  const changes = list.rows;
  // Who has given no name is known by an address, which members see.
  const members = useMembers({ isWanted: changes.some(({ by_name }) => !by_name) });
  const memberName = (/** @type {string} */ id) => (members.isLoading ? html`<${SkeletonText} />` : nameOf(members.data?.members.find((/** @type {any} */ { user_id }) => user_id === id)));
  return html`<${Further} of=${list} one="change" many="changes" what="Couldn’t load the history.">
    ${changes.length === 0
      ? html`<p class="muted history-none">No changes since this link was created.</p>`
      : html`<ol class="lines history-list" aria-label="History">
          ${changes.map((change, at) => html`<${Entry} key=${`${change.at} ${at}`} change=${change} who=${change.by_name || memberName(change.by)} />`)}
        </ol>`}
  <//>`;
}

/** @param {{ change: Change, who: unknown }} props */
function Entry({ change, who }) {
  return html`<li>
    <div class="line-text">
      ${sentencesOf(change.changes).map((sentence, at) => html`<p key=${at}><bdi>${who}</bdi> ${sentence}</p>`)}
    </div>
    <span class="small-print"><${Time} at=${change.at} /></span>
  </li>`;
}
