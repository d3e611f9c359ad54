import { html } from '../../vendor/preact.js';
import { nameOf } from '../../core/lists.js';
import { currentWorkspace, otherWorkspace, session } from '../../core/session.js';
import { leaveWorkspace } from '../../parts/ways/ways.js';
import { ask } from '../../ui/dialog.js';
import { toast, toastFailure } from '../../ui/toast.js';

/** @typedef {import('../../core/lists.js').Member} Member */

/**
 * Leaves the workspace, if somebody is sure about that.
 * @param {Member[]} members in the order in which they joined
 */
export async function leave(members) {
  const { me } = session.get();
  const here = currentWorkspace();
  if (!me || !here) return;
  const next = otherWorkspace();
  const heir = members.find((member) => member.role === 'admin' && !member.paused_at && member.user_id !== me.user_id);
  const afterwards = next
    ? html`You’ll continue in <bdi>${next.name}</bdi>.`
    : 'It’s your only workspace, so you’ll be signed out. When you sign in again, you get a new one if you’re allowed to create one.';
  const question = {
    title: `Leave ${here.name}?`,
    text: html`Your links and monitored URLs go to <bdi>${heir ? nameOf(heir) : 'an admin'}</bdi>, and your API keys are revoked. ${afterwards}`,
    action: 'Leave',
    isDanger: true,
  };
  if (!(await ask(question))) return;
  try {
    await leaveWorkspace(me.user_id, next?.slug);
    toast(`You left ${here.name}.`);
  } catch (error) {
    toastFailure('Couldn’t leave the workspace.', error);
  }
}
