import { html, useState } from '../../vendor/preact.js';
import { call, readAll } from '../../core/api.js';
import { counted } from '../../core/format.js';
import { useForm } from '../../core/form.js';
import { nameOf } from '../../core/lists.js';
import { invalidate, useResource } from '../../core/resource.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox } from '../../ui/field.js';
import { FormFailure } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';

/** @typedef {import('../../core/lists.js').Member} Member */

/** How much a member would leave behind. @param {string} userId */
async function belongings(userId) {
  const [links, keys] = await Promise.all([
    // Deleted and archived links are handed over, too.
    call('GET /api/links', { query: { created_by: userId, status: 'all', archived: 'all', per_page: 1 } }),
    readAll('keys', 'GET /api/keys'),
  ]);
  return { links: links.total, keys: keys.keys.filter((/** @type {any} */ key) => key.created_by === userId).length };
}

/**
 * Asks whether a member shall go, and says what becomes of what was theirs.
 * @param {{ member: Member, onClose: () => void }} props
 */
export function RemoveMember({ member, onClose }) {
  const [keepKeys, setKeepKeys] = useState(false);
  const left = useResource(`belongings:${member.user_id}`, () => belongings(member.user_id)).data;
  const name = nameOf(member);
  const form = useForm({}, async () => {
    await call('DELETE /api/workspace/members/{user_id}', {
      path: { user_id: member.user_id },
      query: { keep_keys: keepKeys ? 'true' : undefined },
    });
    toast(`${name} is no longer a member.`);
    for (const changed of ['members', 'keys', 'invitations', 'links', 'belongings']) invalidate(changed);
    onClose();
  });
  const footer = html`<${Button} onClick=${onClose}>Cancel<//>
    <${Button} kind="danger" type="submit" isBusy=${form.isBusy}>Remove<//>`;
  return html`<${Dialog} title=${html`Remove <bdi>${name}</bdi>?`} onClose=${onClose} onSubmit=${form.submit} footer=${footer}>
    <${FormFailure} error=${form.failure} />
    <ul class="consequences">
      <li>${member.paused_at ? 'They don’t get access to this workspace again.' : 'They lose access to this workspace within a minute.'}</li>
      <li>${linksSentence(left?.links)}</li>
      <li>${keysSentence(left?.keys, keepKeys)}</li>
      <li>Their pending invitations are withdrawn.</li>
      <li>Statistics that they shared stay shared. You can end that in Settings.</li>
    </ul>
    ${left?.keys !== 0 &&
    html`<${Checkbox}
      label="Keep their API keys working"
      hint="They become yours. Their former owner may still know them, so keep them only until you replace them."
      checked=${keepKeys}
      onChange=${setKeepKeys}
    />`}
  <//>`;
}

/** Of very many links, the API doesn't say how many they are. @param {number | null | undefined} links */
function linksSentence(links) {
  if (links === 0) return 'They have no links. Their monitored URLs become yours.';
  const theirs = links ? `Their ${counted(links, 'link')}` : 'Their links';
  return `${theirs} and their monitored URLs become yours. ${links === 1 ? 'The link keeps' : 'The links keep'} working.`;
}

/** @param {number | undefined} keys @param {boolean} areKept */
function keysSentence(keys, areKept) {
  if (keys === 0) return 'They have no API keys.';
  const theirs = keys === undefined ? 'Their API keys' : `Their ${counted(keys, 'API key')}`;
  if (areKept) return `${theirs} ${keys === 1 ? 'keeps' : 'keep'} working.`;
  return `${theirs} ${keys === 1 ? 'is' : 'are'} revoked and ${keys === 1 ? 'stops' : 'stop'} working.`;
}
