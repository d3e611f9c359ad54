// Who did what, when and from where.

import { html } from '../../vendor/preact.js';
import { exactMoment, regionName } from '../../core/format.js';
import { readAll } from '../../core/api.js';
import { nameOf, useMembers } from '../../core/lists.js';
import { useResource } from '../../core/resource.js';
import { Loaded, SkeletonText } from '../../ui/states.js';
import { Table } from '../table/table.js';
import { Time } from '../../ui/time.js';
import { Further, useFurther } from '../further/further.js';
import { isPerson, sentenceOf } from './words.js';

/** @typedef {import('../../core/lists.js').Member} Member */
/** @typedef {import('./words.js').AuditEntry} AuditEntry */
/** @typedef {{ entries: AuditEntry[], next_cursor: string | null }} AuditPart */
/** @typedef {(cursor?: string, signal?: AbortSignal) => Promise<AuditPart>} Read */
/** The way to more of the same actor, given as the API is asked about one. @typedef {(actor: string) => { href: string, onClick: () => void } | undefined} LinkOf */
/** @typedef {{ read: Read, label: string, none: string, isOwn?: boolean, linkOf?: LinkOf }} Shown */

const FAILED = 'Couldn’t load activity.';

/**
 * An audit log with what reads on. With other filters it is another one, which its `key` says.
 * @param {object} props
 * @param {string | null} props.resource the key under which its beginning is kept; none of one that is filtered, since that is looked for
 * @param {Read} props.read
 * @param {string} props.label what the table is called
 * @param {string} props.none what is said where there are no entries
 * @param {boolean} [props.isOwn] whether it is of who looks at it, so that it doesn't say who
 * @param {LinkOf} [props.linkOf]
 */
export function AuditLog({ resource, ...shown }) {
  const first = useResource(resource, () => shown.read());
  if (resource === null) return html`<${Parts} ...${shown} />`;
  return html`<${Loaded} of=${first} what=${FAILED}>${(/** @type {AuditPart} */ part) => html`<${Parts} first=${part} ...${shown} />`}<//>`;
}

/** @param {Shown & { first?: AuditPart }} props */
function Parts({ first, read, label, none, isOwn, linkOf }) {
  const list = useFurther('entries', read, first);
  const { rows, next } = list;
  return html`<${Further} of=${list} one="entry" many="entries" what=${FAILED}>
    ${rows.length > 0 && html`<${Entries} label=${label} entries=${rows} isOwn=${isOwn} linkOf=${linkOf} />`}
    ${rows.length === 0 && next === null && html`<p class="muted audit-none">${none}</p>`}
  <//>`;
}

/**
 * @param {object} props
 * @param {string} props.label
 * @param {AuditEntry[]} props.entries
 * @param {boolean} [props.isOwn]
 * @param {LinkOf} [props.linkOf]
 */
export function Entries({ label, entries, isOwn = false, linkOf }) {
  const names = (/** @type {string} */ kind) => entries.some(({ subject }) => subject?.kind === kind);
  // Who has given no name is known by an address, which members see.
  const members = useMembers({ isWanted: !isOwn && (names('member') || entries.some(hasNameless)) });
  const keys = useResource(!isOwn && names('key') ? 'keys' : null, () => readAll('keys', 'GET /api/keys'));
  const memberOf = (/** @type {string | null} */ id) => members.data?.members.find((/** @type {Member} */ { user_id }) => user_id === id);
  const personName = (/** @type {string | null} */ id) => (members.isLoading ? html`<${SkeletonText} />` : nameOf(memberOf(id)));
  /** @type {import('./words.js').Known['isThere']} */
  const isThere = ({ kind, id }) => (kind === 'key' ? keys.data?.keys.some((/** @type {{ prefix: string }} */ { prefix }) => prefix === id) : memberOf(id) !== undefined);
  /** @type {(import('../table/table.js').Column<AuditEntry> | false)[]} */
  const columns = [
    {
      label: 'Action',
      isHeader: true,
      cell: (entry) => html`${sentenceOf(entry, { personName, isThere })}${isOwn && entry.actor.kind === 'operator' && html` <span class="muted">${OPERATOR}</span>`}`,
    },
    !isOwn && { label: 'Person', cell: ({ actor }) => html`<${Who} actor=${actor} personName=${personName} linkOf=${linkOf} />` },
    entries.some(placeOf) && { label: 'Device and country', cell: placeOf },
    { label: 'Time', isNumber: true, cell: ({ at }) => html`<span class="audit-time"><${Time} at=${at}>${exactMoment(at)}<//></span>` },
  ];
  return html`<${Table} isStacked label=${label} columns=${columns.filter(Boolean)} rows=${entries} keyOf=${(/** @type {AuditEntry} */ { id }) => id} />`;
}

/** @param {AuditEntry} entry */
const hasNameless = ({ actor, from, to }) => (actor.kind === 'person' && !actor.name) || isPerson(from) || isPerson(to);

/** @param {AuditEntry} entry */
function placeOf({ device, country }) {
  const place = [device, country && regionName(country)].filter(Boolean).join(', ');
  return place && html`<bdi class="muted">${place}</bdi>`;
}

const OPERATOR = 'by the Linklet operator';

/** @param {{ actor: import('./words.js').Actor, personName: (userId: string | null) => unknown, linkOf?: LinkOf }} props */
function Who({ actor, personName, linkOf }) {
  const { kind, name, user_id, key_prefix } = actor;
  const link = linkOf?.(user_id ?? key_prefix ?? kind);
  const text = {
    key: () => html`API key <code>${key_prefix}</code>`,
    person: () => html`<bdi>${name || personName(user_id)}</bdi>`,
    operator: () => 'Linklet operator',
    linklet: () => 'Linklet',
  }[kind]();
  return link ? html`<a class="audit-who" ...${link} title="Show only their activity">${text}</a>` : text;
}
