// The shares that there are, each with a way to end it.

import { html } from '../../vendor/preact.js';
import { day, fullTime, momentInText } from '../../core/format.js';
import { nameOf, useMembers } from '../../core/lists.js';
import { invalidate } from '../../core/resource.js';
import { href } from '../../core/router.js';
import { mayAct, session } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { ask } from '../../ui/dialog.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { endShare } from './calls.js';

/** @typedef {import('./calls.js').Share} Share */

/** @param {{ shares: Share[], isOfAll?: boolean }} props `isOfAll` says that they are of different links and tags */
export function ShareLines({ shares, isOfAll = false }) {
  const members = useMembers().data?.members;
  const maker = (/** @type {Share} */ { created_by }) => members && nameOf(members.find((/** @type {any} */ member) => member.user_id === created_by));
  return html`<ul class="lines share-lines">
    ${shares.map((share) => html`<${Line} key=${share.id} share=${share} maker=${maker(share)} isOfAll=${isOfAll} />`)}
  </ul>`;
}

/** @param {{ share: Share, maker?: string, isOfAll: boolean }} props */
function Line({ share, maker, isOfAll }) {
  const { created_at, created_by, expires_at, has_password } = share;
  const mayEnd = mayAct('admin') || created_by === session.get().me?.user_id;
  const created = html`<span title=${fullTime(created_at)}>Created ${momentInText(created_at)}${maker && html` by <bdi>${maker}</bdi>`}</span>`;
  const ends = expires_at ? html`<span title=${fullTime(expires_at)}>expires ${day(expires_at)}</span>` : 'never expires';
  const facts = html`${ends}${has_password && ' · password protected'}`;
  return html`<li>
    <span class="line-text">
      ${isOfAll ? html`<span class="line-title"><${What} share=${share} /></span><span class="small-print">${created} · ${facts}</span>` : html`<span>${created}</span><span class="small-print">${facts}</span>`}
    </span>
    ${mayEnd && html`<${Button} class="compact" onClick=${() => endAsked(share)}>End<span class="hidden"> ${nameOfShare(share)}</span><//>`}
  </li>`;
}

/** @param {{ share: Share }} props */
const What = ({ share: { short_code, tag } }) =>
  short_code ? html`<a href=${href(['links', short_code])}><bdi>${short_code}</bdi></a>` : html`<span class="muted">Tag</span> <a href=${href(['tags', tag ?? ''])}><bdi>${tag}</bdi></a>`;

/** @param {Share} share */
const nameOfShare = ({ short_code, tag }) => `the shared statistics of ${short_code ?? tag}`;

/** @param {Share} share */
export async function endAsked(share) {
  const text = `Anyone with its URL can no longer see the statistics of ${share.short_code ?? `the tag “${share.tag}”`} within a minute. This can’t be undone.`;
  if (!(await ask({ title: 'End sharing?', text, action: 'End', isDanger: true }))) return;
  try {
    await endShare(share);
    toast('Sharing ended.');
  } catch (error) {
    toastFailure('Couldn’t end sharing.', error);
  }
  invalidate('shares');
}
