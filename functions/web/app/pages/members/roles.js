import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { nameOf } from '../../core/lists.js';
import { noteRole } from '../../core/session.js';
import { withArticle } from '../../core/words.js';
import { ask } from '../../ui/dialog.js';
import { toast, toastFailure } from '../../ui/toast.js';

/** @typedef {import('../../core/lists.js').Member} Member */

export const ROLE_TEXTS = [
  { role: 'viewer', text: 'Can view links, statistics and monitored URLs.' },
  { role: 'member', text: 'Can also create links and monitored URLs, and edit their own.' },
  { role: 'admin', text: 'Can edit everyone’s links, and manage members, API keys and this workspace.' },
];

export const ROLES = ROLE_TEXTS.map(({ role }) => role);

/**
 * The role of a member, and for admins the way to change it.
 * @param {{ member: Member, resource: import('../../core/resource.js').Resource<{ members: Member[] }>, isFixed: boolean, isMe: boolean }} props
 */
export function Role({ member, resource, isFixed, isMe }) {
  const [attempts, setAttempts] = useState(0);
  if (isFixed) return html`<span>${member.role}</span>`;

  const show = (/** @type {string} */ role) =>
    resource.change(({ members }) => ({ members: members.map((one) => (one.user_id === member.user_id ? { ...one, role } : one)) }));

  async function change(/** @type {any} */ event) {
    const { role: before } = member;
    const role = event.target.value;
    if (isMe && !(await ask(STEP_DOWN))) {
      // Drawn anew, so that the list shows what it was.
      setAttempts(attempts + 1);
      return;
    }
    show(role);
    try {
      await call('PATCH /api/workspace/members/{user_id}', { path: { user_id: member.user_id }, body: { role } });
      toast(`${nameOf(member)} is now ${withArticle(role)}.`);
      if (isMe) noteRole(role);
    } catch (error) {
      show(before);
      setAttempts(attempts + 1);
      toastFailure('Couldn’t change the role.', error);
      await resource.reload();
    }
  }

  return html`<select key=${attempts} class="input role-choice" aria-label=${`Role of ${nameOf(member)}`} value=${member.role} onChange=${change}>
    ${ROLES.map((role) => html`<option key=${role} value=${role} selected=${role === member.role}>${role}</option>`)}
  </select>`;
}

const STEP_DOWN = {
  title: 'Give up your admin role?',
  text: 'You’ll no longer be able to manage members, API keys and this workspace. Only another admin can give you the role back.',
  action: 'Give up role',
  isDanger: true,
};
