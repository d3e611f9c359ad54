// Who did what, when and from where.

import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { counted, exactMoment, regionName } from '../../core/format.js';
import { nameOf, useMembers } from '../../core/lists.js';
import { useResource } from '../../core/resource.js';
import { Button } from '../../ui/button.js';
import { Failure, Loaded, SkeletonText } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { isPerson, sentenceOf } from './words.js';

/** @typedef {import('../../core/lists.js').Member} Member */
/** @typedef {import('./words.js').TrailEntry} TrailEntry */
/** @typedef {{ entries: TrailEntry[], next_cursor: string | null }} TrailPart */
/** Where one finds more of the same actor, given as the API is asked about one. @typedef {(actor: string) => string} PageOf */

/**
 * A trail with what reads on. With other filters it is another one, which its `key` says.
 * @param {object} props
 * @param {string} props.resource the key under which its beginning is kept
 * @param {(cursor?: string) => Promise<TrailPart>} props.read
 * @param {string} props.label what the table is called
 * @param {string} props.none what is said where there are no entries
 * @param {boolean} [props.isOwn] whether it is of who looks at it, so that it doesn't say who
 * @param {PageOf} [props.pageOf]
 */
export function Trail({ resource, read, label, none, isOwn = false, pageOf }) {
  const first = useResource(resource, () => readOn(read));
  return html`<${Loaded} of=${first} what="The trail can’t be shown.">
    ${(/** @type {TrailPart} */ part) => html`<${Parts} first=${part} read=${read} label=${label} none=${none} isOwn=${isOwn} pageOf=${pageOf} />`}
  <//>`;
}

/** A part with entries, if there are any: of those that were read for one, a filter may have left none. @param {(cursor?: string) => Promise<TrailPart>} read @param {string} [cursor] */
async function readOn(read, cursor) {
  let part = await read(cursor);
  while (part.entries.length === 0 && part.next_cursor) part = await read(part.next_cursor);
  return part;
}

/** @param {{ first: TrailPart, read: (cursor?: string) => Promise<TrailPart>, label: string, none: string, isOwn: boolean, pageOf?: PageOf }} props */
function Parts({ first, read, label, none, isOwn, pageOf }) {
  const { entries, cursor, more, error, isBusy, hasMore } = useParts(first, read);
  if (entries.length === 0) return html`<p class="muted trail-none">${none}</p>`;
  return html`<${Entries} label=${label} entries=${entries} isOwn=${isOwn} pageOf=${pageOf} />
    <p class="hidden" role="status">${hasMore && counted(entries.length, 'entry', 'entries')}</p>
    ${error && html`<${Failure} what="No more could be loaded." error=${error} retry=${more} />`}
    ${!error && cursor && html`<p class="row centred trail-more"><${Button} class="compact" isBusy=${isBusy} onClick=${more}>Load more<//></p>`}`;
}

/** The beginning, which may be read again, and what was asked for. @param {TrailPart} first @param {(cursor?: string) => Promise<TrailPart>} read */
function useParts(first, read) {
  const [further, setFurther] = useState(/** @type {TrailPart | undefined} */ (undefined));
  const [state, setState] = useState({ isBusy: false, error: /** @type {any} */ (undefined) });
  const { next_cursor: cursor } = further ?? first;
  const known = new Set(first.entries.map(({ id }) => id));

  async function more() {
    if (!cursor || state.isBusy) return;
    setState({ isBusy: true, error: undefined });
    try {
      const part = await readOn(read, cursor);
      setFurther((before) => ({ entries: [...(before?.entries ?? []), ...part.entries], next_cursor: part.next_cursor }));
      setState({ isBusy: false, error: undefined });
    } catch (error) {
      setState({ isBusy: false, error });
    }
  }

  const entries = [...first.entries, ...(further?.entries ?? []).filter(({ id }) => !known.has(id))];
  return { ...state, entries, cursor, more, hasMore: further !== undefined };
}

/**
 * @param {object} props
 * @param {string} props.label
 * @param {TrailEntry[]} props.entries
 * @param {boolean} [props.isOwn]
 * @param {PageOf} [props.pageOf]
 */
export function Entries({ label, entries, isOwn = false, pageOf }) {
  const names = (/** @type {string} */ kind) => entries.some(({ subject }) => subject?.kind === kind);
  // Who has given no name is known by an address, which members see.
  const members = useMembers({ isWanted: !isOwn && (names('member') || entries.some(hasNameless)) });
  const keys = useResource(!isOwn && names('key') ? 'keys' : null, () => call('GET /api/keys'));
  const memberOf = (/** @type {string | undefined} */ id) => members.data?.members.find((/** @type {Member} */ { user_id }) => user_id === id);
  const personName = (/** @type {string | undefined} */ id) => (members.isLoading ? html`<${SkeletonText} />` : nameOf(memberOf(id)));
  /** @type {import('./words.js').Known['isThere']} */
  const isThere = ({ kind, id }) => (kind === 'key' ? keys.data?.keys.some((/** @type {{ prefix: string }} */ { prefix }) => prefix === id) : memberOf(id) !== undefined);
  /** @type {(import('../../ui/table.js').Column<TrailEntry> | false)[]} */
  const columns = [
    {
      label: 'What',
      isHeader: true,
      cell: (entry) => html`${sentenceOf(entry, { personName, isThere })}${isOwn && entry.actor.kind === 'operator' && html` <span class="muted">${OPERATOR}</span>`}`,
    },
    !isOwn && { label: 'Who', cell: ({ actor }) => html`<${Who} actor=${actor} personName=${personName} pageOf=${pageOf} />` },
    entries.some(placeOf) && { label: 'Device and country', cell: placeOf },
    { label: 'When', isNumber: true, cell: ({ at }) => html`<span class="trail-time"><${Time} at=${at}>${exactMoment(at)}<//></span>` },
  ];
  return html`<${Table} isStacked label=${label} columns=${columns.filter(Boolean)} rows=${entries} keyOf=${(/** @type {TrailEntry} */ { id }) => id} />`;
}

/** @param {TrailEntry} entry */
const hasNameless = ({ actor, from, to }) => (actor.kind === 'person' && !actor.name) || isPerson(from) || isPerson(to);

/** @param {TrailEntry} entry */
function placeOf({ device, country }) {
  const place = [device, country && regionName(country)].filter(Boolean).join(', ');
  return place && html`<bdi class="muted">${place}</bdi>`;
}

const OPERATOR = 'by whoever runs this Linklet';

/** @param {{ actor: import('./words.js').Actor, personName: (userId?: string) => unknown, pageOf?: PageOf }} props */
function Who({ actor, personName, pageOf }) {
  const { kind, name, user_id, key_prefix } = actor;
  const page = pageOf?.(user_id ?? key_prefix ?? kind);
  const text = {
    key: () => html`API key <code>${key_prefix}</code>`,
    person: () => html`<bdi>${name || personName(user_id)}</bdi>`,
    operator: () => 'Whoever runs this Linklet',
    linklet: () => 'Linklet',
  }[kind]();
  return page ? html`<a class="trail-who" href=${page} title="Only what they have done">${text}</a>` : text;
}
