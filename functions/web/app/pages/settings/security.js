// Who signs in how, and by which rules, for admins. The rules are parameters of the deployment.

import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { counted } from '../../core/format.js';
import { nameOf } from '../../core/lists.js';
import { useResource } from '../../core/resource.js';
import { session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { withArticle } from '../../core/words.js';
import { Further, useFurther } from '../../parts/further/further.js';
import { Table } from '../../parts/table/table.js';
import { Facts } from '../../ui/facts.js';
import { Card } from '../../ui/page.js';
import { Loaded, Skeleton } from '../../ui/states.js';

/** @typedef {{ user_id: string, email: string, full_name: string | null, role: string, has_password: boolean, providers: string[], by_groups_of: string | null }} SigningIn providers by their names */

/**
 * @typedef {object} Rules
 * @property {boolean} password_login
 * @property {'open' | 'domains' | 'invited'} registration
 * @property {string[] | null} domains
 * @property {number | null} session_hours after signing in at a provider
 * @property {{ id: string, name: string, issuer: string }[]} providers
 * @property {string[] | null} trusted_domains
 * @property {string | null} join the role of people whose account a sign-in makes; nothing if they don't join this workspace
 * @property {string | null} groups_claim
 * @property {{ group: string, role: string }[]} groups
 */

/** @typedef {Rules & { members: SigningIn[], next_cursor: string | null }} Listed */

/** @param {string} [after] @param {AbortSignal} [signal] @returns {Promise<Listed>} */
async function readSecurity(after, signal) {
  const { members, ...others } = await call('GET /api/workspace/security', { query: { after }, signal });
  return { ...others, members: members.map((/** @type {SigningIn} */ one) => ({ ...one, id: one.user_id })) };
}

export function Security() {
  const first = useResource('security', () => readSecurity());
  const waiting = html`<${Card} title="Sign-in rules"><${Skeleton} rows=${7} height=${20} /><//>`;
  return html`<${Loaded} of=${first} what="Couldn’t load how people sign in." waiting=${waiting}>
    ${(/** @type {Listed} */ listed) => html`<${Card} title="Sign-in rules"><${RulesView} rules=${listed} /><//>
      ${listed.providers.length > 0 && html`<${Card} title="Roles by groups" class=${listed.groups.length > 0 ? 'flush titled' : ''}><${Groups} rules=${listed} /><//>`}
      <${Card} title="Members" class="flush titled"><${Members} first=${listed} /><//>`}
  <//>`;
}

/** @type {Record<Rules['registration'], string>} */
const REGISTRATION = { open: 'Anyone', domains: 'Anyone with an email address at', invited: 'Invited people only' };

/** @param {{ rules: Rules }} props */
function RulesView({ rules }) {
  const { password_login, registration, domains, session_hours, providers, trusted_domains, join } = rules;
  const { me } = useStore(session);
  const rows = [
    { name: 'Workspace id', value: html`<code>${me?.workspace_id}</code>` },
    { name: 'Passwords', value: password_login ? 'Accepted' : 'Turned off' },
    {
      name: 'Identity providers',
      value: providers.length > 0 ? html`<ul>${providers.map(({ id, name, issuer }) => html`<li key=${id}><bdi>${name}</bdi> <bdi class="muted">${issuer}</bdi></li>`)}</ul>` : 'None',
    },
    { name: 'New accounts', value: html`${REGISTRATION[registration]}${registration === 'domains' && html` <${Domains} of=${domains ?? []} />`}` },
    providers.length > 0 && {
      name: 'Trusted domains',
      value: trusted_domains?.length ? html`<${Domains} of=${trusted_domains} /><p class="hint">A provider’s word is enough for email addresses there.</p>` : 'None',
    },
    providers.length > 0 && { name: 'New people', value: join ? `Join this workspace as ${withArticle(join)}` : 'Don’t join this workspace' },
    session_hours !== null && { name: 'Sessions end', value: `${counted(session_hours, 'hour')} after signing in at a provider` },
  ];
  return html`<div class="stack">
    <${Facts} rows=${rows} />
    <p class="hint">These rules apply to this whole Linklet. Its operator changes them, as parameters of its deployment.</p>
  </div>`;
}

/** @param {{ of: string[] }} props */
const Domains = ({ of }) => html`<bdi>${of.join(', ')}</bdi>`;

/** @param {{ rules: Rules }} props */
function Groups({ rules: { groups, groups_claim } }) {
  if (groups.length === 0) return html`<p class="muted">No group gives a role in this workspace.</p>`;
  const columns = [
    { label: html`Group in <code>${groups_claim}</code>`, isHeader: true, cell: (/** @type {Rules['groups'][0]} */ { group }) => html`<bdi>${group}</bdi>` },
    { label: 'Role', isNumber: true, cell: (/** @type {Rules['groups'][0]} */ { role }) => role },
  ];
  return html`<${Table} isStacked label="Roles by groups" columns=${columns} rows=${groups} keyOf=${(/** @type {Rules['groups'][0]} */ { group }) => group} />`;
}

/** @param {{ first: Listed }} props */
function Members({ first }) {
  const list = useFurther('members', readSecurity, first);
  const ways = (/** @type {SigningIn} */ { has_password, providers }) => [has_password && first.password_login && 'Password', ...providers].filter(Boolean).join(', ');
  const columns = [
    {
      label: 'Person',
      isHeader: true,
      cell: (/** @type {SigningIn} */ one) => html`<span class="line-text"><bdi class="line-title">${nameOf(/** @type {any} */ (one))}</bdi>${one.full_name && html`<bdi class="small-print">${one.email}</bdi>`}</span>`,
    },
    { label: 'Signs in with', cell: (/** @type {SigningIn} */ one) => ways(one) || html`<span class="muted">Nothing yet</span>` },
    { label: 'Role', cell: (/** @type {SigningIn} */ { role, by_groups_of: by }) => html`${role}${by && html` <span class="muted">from groups at <bdi>${by}</bdi></span>`}` },
  ];
  return html`<${Further} of=${list} one="member" many="members">
    <${Table} isStacked label="How members sign in" columns=${columns} rows=${list.rows} keyOf=${(/** @type {SigningIn} */ { user_id }) => user_id} />
  <//>`;
}
