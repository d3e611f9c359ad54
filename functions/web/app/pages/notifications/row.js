import { html } from '../../vendor/preact.js';
import { cutMiddle, moment } from '../../core/format.js';
import { href } from '../../core/router.js';
import { Status } from '../../ui/chips.js';
import { Icon } from '../../ui/icons.js';
import { Time } from '../../ui/time.js';
import { pageOf } from './subject.js';

/** @typedef {import('../../core/notifications.js').Notification} Notification */

/** @type {Record<string, { icon: import('../../ui/icons.js').IconName, tone: string, name: string }>} */
const EVENTS = {
  'url.created': { icon: 'plus', tone: '', name: 'New link' },
  'url.updated': { icon: 'edit', tone: '', name: 'Link changed' },
  'url.activated': { icon: 'power', tone: '', name: 'Link enabled' },
  'url.deactivated': { icon: 'power', tone: '', name: 'Link disabled' },
  'url.deleted': { icon: 'trash', tone: '', name: 'Link deleted' },
  'url.expired': { icon: 'clock', tone: 'warn', name: 'Link expired' },
  'url.exhausted': { icon: 'clock', tone: 'warn', name: 'Click limit reached' },
  'url.suspended': { icon: 'power', tone: 'bad', name: 'Link suspended' },
  'url.resumed': { icon: 'tick', tone: 'good', name: 'Suspension lifted' },
  'url.purged': { icon: 'trash', tone: '', name: 'Link deleted with its statistics' },
  'milestone.reached': { icon: 'chart', tone: 'accent', name: 'Milestone' },
  'job.finished': { icon: 'jobs', tone: '', name: 'Job' },
  'target.down': { icon: 'warn', tone: 'bad', name: 'Down' },
  'target.up': { icon: 'tick', tone: 'good', name: 'Back up' },
};
const UNKNOWN_EVENT = { icon: /** @type {const} */ ('bell'), tone: '', name: 'Notification' };
const URL_LETTERS = 90;
const timeFormat = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });

/** @param {{ shown: Notification, isNew: boolean, hasDay: boolean }} props */
export function NotificationRow({ shown, isNew, hasDay }) {
  const { icon, tone, name } = EVENTS[shown.event_type] ?? UNKNOWN_EVENT;
  const time = hasDay ? moment(shown.created_at) : timeFormat.format(new Date(shown.created_at));
  return html`<li class=${`event ${isNew ? 'new' : ''}`}>
    <span class=${`event-icon ${tone}`}><${Icon} name=${icon} /></span>
    <div class="event-text">
      <p><span class="hidden">${isNew && 'New. '}${name}: </span><${Sentence} shown=${shown} /></p>
      ${shown.status === 'failed' && html`<${Status} tone="warn" title="It’s listed here but couldn’t be delivered.">Not delivered<//>`}
    </div>
    <span class="small-print event-time"><${Time} at=${shown.created_at}>${time}<//></span>
  </li>`;
}

/** The sentence, which leads to the page of what it is about. @param {{ shown: Notification }} props */
function Sentence({ shown }) {
  const text = html`<${Readable} text=${shown.message} />`;
  const page = pageOf(shown);
  return page ? html`<a href=${href(...page)}>${text}</a>` : text;
}

const URL_OR_TIME = /(https?:\/\/\S+|\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** What stands in it is other people's text: long addresses are cut, so that the end of the sentence is seen, and times are those of the visitor. @param {{ text: string }} props */
function Readable({ text }) {
  const pieces = text.split(URL_OR_TIME);
  return html`${pieces.map((piece, index) => {
    if (index % 2 === 0) return piece;
    if (piece.startsWith('http')) return html`<bdi title=${piece}>${cutMiddle(piece, URL_LETTERS)}</bdi>`;
    return html`<${Time} at=${piece} isInText />`;
  })}`;
}
