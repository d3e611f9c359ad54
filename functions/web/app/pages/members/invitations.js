import { html, useState } from '../../vendor/preact.js';
import { call, readAll } from '../../core/api.js';
import { emailError } from '../../core/checks.js';
import { day, moment } from '../../core/format.js';
import { useForm } from '../../core/form.js';
import { nameOf } from '../../core/lists.js';
import { invalidate, useResource } from '../../core/resource.js';
import { href } from '../../core/router.js';
import { session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { CopyField } from '../../parts/copy-field/copy-field.js';
import { Button } from '../../ui/button.js';
import { ask, Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { Card } from '../../ui/page.js';
import { FormFailure, Loaded } from '../../ui/states.js';
import { Table } from '../../parts/table/table.js';
import { Time } from '../../ui/time.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { withArticle } from '../../core/words.js';
import { ROLES } from './roles.js';

/** @typedef {import('../../core/lists.js').Member} Member */
/** @typedef {'mail_off' | 'inviter_unverified' | 'limit_reached' | 'mailed_recently'} NotMailed */
/** @typedef {{ id: string, email: string, role: string, created_at: string, expires_at: string, invited_by: string, mailed_at: string | null, not_mailed: NotMailed | null }} Invitation */
/** @typedef {{ id: string, email: string, role: string, expires_at: string, token: string }} NewInvitation */

const MAILED_WITHIN_MS = 2_000;

/** Why an invitation isn’t emailed, to whoever made it. @type {Record<NotMailed, string>} */
const REASONS = {
  mail_off: 'this server doesn’t send email',
  inviter_unverified: 'your own email isn’t confirmed',
  limit_reached: 'you’ve reached the hourly limit of emailed invitations',
  mailed_recently: 'this address was emailed an invitation recently',
};
/** The same of an invitation that another admin has made. @type {Partial<Record<NotMailed, string>>} */
const REASONS_OF_OTHERS = {
  inviter_unverified: 'the inviter’s own email isn’t confirmed',
  limit_reached: 'the inviter had reached the hourly limit of emailed invitations',
};

/** @param {Pick<Invitation, 'email' | 'role'>} invitation @returns {Promise<NewInvitation>} */
const invite = ({ email, role }) => call('POST /api/workspace/invitations', { body: { email, role } });

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
          <${Card} class="flush"><${InvitationTable} invitations=${invitations} members=${members} onMade=${onMade} /><//>
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
      onMade(await invite({ email: email.trim(), role }));
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
  const { me } = useStore(session);
  const invitation = data?.invitations.find(({ id }) => id === made.id);
  const link = new URL(href('invitation', { token: made.token }, ''), location.href).href;
  return html`<${Dialog} title="Share this link" mustAnswer onClose=${onClose} footer=${html`<${Button} onClick=${onClose}>Done<//>`}>
    <p><bdi><strong>${made.email}</strong></bdi> can use it once to join as ${withArticle(made.role)}, until <${Time} at=${made.expires_at}>${day(made.expires_at)}<//>.</p>
    <p role="status">${invitation && mailWords(invitation, me?.verified === false)}</p>
    <${CopyField} label="Invitation" text=${link} hint="Copy it now. It won’t be shown again. If it gets lost, invite them again." />
  <//>`;
}

/** Whether a new invitation is emailed, too; of whoever isn’t confirmed none is. @param {Invitation} invitation @param {boolean} isUnconfirmed */
function mailWords({ mailed_at, not_mailed }, isUnconfirmed) {
  if (mailed_at) return 'We also emailed them a separate link.';
  const reason = not_mailed ?? (isUnconfirmed && 'inviter_unverified');
  return reason ? `We didn’t email them because ${REASONS[reason]}. Send them this link yourself.` : 'We’re also emailing them a separate link.';
}

/** @param {{ invitations: Invitation[], members: Member[], onMade: (invitation: NewInvitation) => void }} props */
function InvitationTable({ invitations, members, onMade }) {
  const inviter = (/** @type {Invitation} */ invitation) => nameOf(members.find((member) => member.user_id === invitation.invited_by));
  const columns = [
    { label: 'Email', isHeader: true, cell: (/** @type {Invitation} */ one) => html`<bdi class="line-title">${one.email}</bdi><${NotEmailed} invitation=${one} />` },
    { label: 'Role', cell: (/** @type {Invitation} */ one) => one.role },
    { label: 'Invited by', isMinor: true, cell: (/** @type {Invitation} */ one) => html`<bdi>${inviter(one)}</bdi>` },
    { label: 'Emailed', isMinor: true, cell: (/** @type {Invitation} */ one) => (one.mailed_at ? html`<${Time} at=${one.mailed_at}>${moment(one.mailed_at)}<//>` : one.not_mailed ? 'No' : 'Sending…') },
    { label: 'Expires', isMinor: true, cell: (/** @type {Invitation} */ one) => html`<${Time} at=${one.expires_at}>${day(one.expires_at)}<//>` },
    {
      label: 'Actions',
      isHidden: true,
      isNumber: true,
      cell: (/** @type {Invitation} */ one) => html`<span class="invitation-actions"><${SendAgain} invitation=${one} onMade=${onMade} /><${Withdraw} invitation=${one} /></span>`,
    },
  ];
  return html`<${Table} isStacked label="Pending invitations" columns=${columns} rows=${invitations} keyOf=${(/** @type {Invitation} */ one) => one.id} />`;
}

/** Why it isn’t, if it isn’t. @param {{ invitation: Invitation }} props */
function NotEmailed({ invitation: { not_mailed: reason, invited_by } }) {
  const { me } = useStore(session);
  if (!reason) return null;
  const isMine = me?.user_id === invited_by;
  const words = (!isMine && REASONS_OF_OTHERS[reason]) || REASONS[reason];
  return html`<p class="hint">
    Not emailed: ${words}. ${isMine && reason === 'inviter_unverified' && html`<a href=${href('account')}>Confirm it</a>`}
  </p>`;
}

/** Its new link, which may be copied, replaces the one before. @param {{ invitation: Invitation, onMade: (invitation: NewInvitation) => void }} props */
function SendAgain({ invitation, onMade }) {
  const [isBusy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    try {
      onMade(await invite(invitation));
    } catch (error) {
      toastFailure('Couldn’t send the invitation.', error);
    } finally {
      setBusy(false);
    }
  };
  return html`<${Button} class="compact" isBusy=${isBusy} aria-label=${`Send again to ${invitation.email}`} title="Makes a new link. The current one stops working." onClick=${send}>Send again<//>`;
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
