import { html, useState } from '../../vendor/preact.js';
import { call, readAll } from '../../core/api.js';
import { emailError } from '../../core/checks.js';
import { day, moment } from '../../core/format.js';
import { useForm } from '../../core/form.js';
import { nameOf } from '../../core/lists.js';
import { invalidate, useResource } from '../../core/resource.js';
import { href } from '../../core/router.js';
import { CopyField } from '../../parts/copy-field/copy-field.js';
import { Button } from '../../ui/button.js';
import { ask, Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { Card } from '../../ui/page.js';
import { FormFailure, Loaded } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { withArticle } from '../../core/words.js';
import { ROLES } from './roles.js';

/** @typedef {import('../../core/lists.js').Member} Member */
/** @typedef {{ id: string, email: string, role: string, created_at: string, expires_at: string, invited_by: string, mailed_at: string | null }} Invitation */
/** @typedef {{ id: string, email: string, role: string, expires_at: string, token: string }} NewInvitation */

const MAILED_WITHIN_MS = 2_000;

const readInvitations = () => readAll('invitations', 'GET /api/workspace/invitations');

/** The open ones, for who may see them. @param {{ isWanted: boolean, everyMs?: number }} options @returns {import('../../core/resource.js').Resource<{ invitations: Invitation[] }>} */
export const useInvitations = ({ isWanted, everyMs }) => useResource(isWanted ? 'invitations' : null, readInvitations, { everyMs });

/** For admins: invites somebody, and lists who hasn't come yet. @param {{ members: Member[], resource: ReturnType<typeof useInvitations> }} props */
export function Invitations({ members, resource }) {
  const [made, setMade] = useState(/** @type {NewInvitation | undefined} */ (undefined));
  const onMade = (/** @type {NewInvitation} */ invitation) => {
    setMade(invitation);
    invalidate('invitations');
  };
  return html`<${Card} title="Invite someone">
      <${InvitationForm} members=${members} open=${resource.data?.invitations ?? []} onMade=${onMade} />
    <//>
    <${Loaded} of=${resource} what="Couldn’t load the pending invitations." waiting=${null}>
      ${(/** @type {{ invitations: Invitation[] }} */ { invitations }) =>
        invitations.length > 0 &&
        html`<section class="stack tight">
          <h2>Pending invitations</h2>
          <${Card} class="flush"><${InvitationTable} invitations=${invitations} members=${members} /><//>
        </section>`}
    <//>
    ${made && html`<${MadeInvitation} made=${made} onClose=${() => setMade(undefined)} />`}`;
}

/** @param {{ members: Member[], open: Invitation[], onMade: (invitation: NewInvitation) => void }} props */
function InvitationForm({ members, open, onMade }) {
  const check = (/** @type {{ email: string }} */ { email }) => {
    const isMember = members.some((member) => member.email === email.trim().toLowerCase());
    if (isMember) return { email: 'This person is already a member.' };
    return { email: emailError(email) };
  };
  const form = useForm(
    { email: '', role: 'member' },
    async ({ email, role }) => {
      onMade(await call('POST /api/workspace/invitations', { body: { email: email.trim(), role } }));
      form.empty('email', email);
    },
    { check },
  );
  const isAgain = open.some(({ email }) => email === form.values.email.trim().toLowerCase());
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <${FormFailure} error=${form.failure} />
    <div class="invite">
      <${Field} label="Email" type="email" autocomplete="off" ...${form.field('email')} />
      <${Field} label="Role" as="select" ...${form.field('role')}>
        ${ROLES.map((role) => html`<option key=${role} value=${role} selected=${role === form.values.role}>${role}</option>`)}
      <//>
      <${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Invite<//>
    </div>
    <p class="hint" role="status">
      ${isAgain ? 'This person is already invited. Their current link will stop working.' : 'You’ll get a link to give them. It works once, only for this email, for 7 days.'}
    </p>
  </form>`;
}

/** The only time the link is shown. @param {{ made: NewInvitation, onClose: () => void }} props */
function MadeInvitation({ made, onClose }) {
  // The mail goes its own way, and may take a moment.
  const { data } = useInvitations({ isWanted: true, everyMs: MAILED_WITHIN_MS });
  const isMailed = data?.invitations.some(({ id, mailed_at }) => id === made.id && mailed_at);
  const link = new URL(href('invitation', { token: made.token }, ''), location.href).href;
  return html`<${Dialog} title="Share this link" mustAnswer onClose=${onClose} footer=${html`<${Button} onClick=${onClose}>Done<//>`}>
    <p><bdi><strong>${made.email}</strong></bdi> can use it once to join as ${withArticle(made.role)}, until <${Time} at=${made.expires_at}>${day(made.expires_at)}<//>.</p>
    <p role="status">${isMailed ? 'We also emailed them a separate link.' : 'We haven’t emailed them.'}</p>
    <${CopyField} label="Invitation" text=${link} hint="Copy it now. It won’t be shown again. If it gets lost, invite them again." />
  <//>`;
}

/** @param {{ invitations: Invitation[], members: Member[] }} props */
function InvitationTable({ invitations, members }) {
  const inviter = (/** @type {Invitation} */ invitation) => nameOf(members.find((member) => member.user_id === invitation.invited_by));
  const columns = [
    { label: 'Email', isHeader: true, cell: (/** @type {Invitation} */ one) => html`<bdi class="line-title">${one.email}</bdi>` },
    { label: 'Role', cell: (/** @type {Invitation} */ one) => one.role },
    { label: 'Invited by', isMinor: true, cell: (/** @type {Invitation} */ one) => html`<bdi>${inviter(one)}</bdi>` },
    { label: 'Emailed', isMinor: true, cell: (/** @type {Invitation} */ one) => (one.mailed_at ? html`<${Time} at=${one.mailed_at}>${moment(one.mailed_at)}<//>` : 'No') },
    { label: 'Expires', isMinor: true, cell: (/** @type {Invitation} */ one) => html`<${Time} at=${one.expires_at}>${day(one.expires_at)}<//>` },
    { label: 'Actions', isHidden: true, isNumber: true, cell: (/** @type {Invitation} */ one) => html`<${Withdraw} invitation=${one} />` },
  ];
  return html`<${Table} isStacked label="Pending invitations" columns=${columns} rows=${invitations} keyOf=${(/** @type {Invitation} */ one) => one.id} />`;
}

/** @param {{ invitation: Invitation }} props */
function Withdraw({ invitation }) {
  const withdraw = async () => {
    const question = { title: `Withdraw the invitation for ${invitation.email}?`, text: 'Its link stops working.', action: 'Withdraw', isDanger: true };
    if (!(await ask(question))) return;
    try {
      await call('DELETE /api/workspace/invitations/{invitation_id}', { path: { invitation_id: invitation.id } });
      toast('Invitation withdrawn.');
    } catch (error) {
      toastFailure('Couldn’t withdraw the invitation.', error);
    }
    invalidate('invitations');
  };
  return html`<${Button} kind="quiet" icon="trash" label=${`Withdraw the invitation for ${invitation.email}`} onClick=${withdraw} />`;
}
