import { html } from '../../vendor/preact.js';
import { cutMiddle } from '../../core/format.js';
import { href } from '../../core/router.js';
import { Status } from '../../ui/chips.js';
import { Icon } from '../../ui/icons.js';
import { Time } from '../../ui/time.js';

/** @typedef {{ id: string, event_type: string, status: 'pending' | 'sent' | 'failed', created_at: string, sent_at: string | null, message: string }} Notification */

/** @type {Record<string, { icon: import('../../ui/icons.js').IconName, tone: string, name: string }>} */
const EVENTS = {
  'url.created': { icon: 'plus', tone: '', name: 'New link' },
  'url.deleted': { icon: 'power', tone: '', name: 'Link switched off' },
  'url.expired': { icon: 'clock', tone: 'warn', name: 'Link expired' },
  'url.purged': { icon: 'trash', tone: '', name: 'Link deleted' },
  'milestone.reached': { icon: 'chart', tone: 'accent', name: 'Milestone' },
  'target.down': { icon: 'warn', tone: 'bad', name: 'Down' },
  'target.up': { icon: 'tick', tone: 'good', name: 'Up again' },
};
const UNKNOWN_EVENT = { icon: /** @type {const} */ ('bell'), tone: '', name: 'Notification' };
/** Events after which there is nothing left to look at. */
const WITHOUT_LINK = ['url.purged'];
const URL_LETTERS = 90;
const timeFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** @param {{ shown: Notification }} props */
export function NotificationRow({ shown }) {
  const { icon, tone, name } = EVENTS[shown.event_type] ?? UNKNOWN_EVENT;
  return html`<li class="event">
    <span class=${`event-icon ${tone}`}><${Icon} name=${icon} /></span>
    <div class="event-text">
      <p><span class="hidden">${name}: </span><${Sentence} shown=${shown} /></p>
      ${shown.status === 'failed' && html`<${Status} tone="warn" title="It is listed here, but could not be delivered.">Not delivered<//>`}
    </div>
    <span class="small-print event-time"><${Time} at=${shown.created_at}>${timeFormat.format(new Date(shown.created_at))}<//></span>
  </li>`;
}

/**
 * The sentence, with a way to the link that it is about. What stands in it is other people's text.
 * @param {{ shown: Notification }} props
 */
function Sentence({ shown }) {
  const about = /^(Your short link )([0-9A-Za-z_-]{4,20})( .*)$/s.exec(shown.message);
  if (!about || WITHOUT_LINK.includes(shown.event_type)) return html`<${Readable} text=${shown.message} />`;
  const [, before, code, after] = about;
  return html`${before}<a href=${href(`links/${code}`)}>${code}</a><${Readable} text=${after} />`;
}

const URL_OR_TIME = /(https?:\/\/\S+|\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** Long addresses are cut, so that the end of the sentence is seen, and times are those of the visitor. @param {{ text: string }} props */
function Readable({ text }) {
  const pieces = text.split(URL_OR_TIME);
  return html`${pieces.map((piece, index) => {
    if (index % 2 === 0) return piece;
    if (piece.startsWith('http')) return html`<bdi title=${piece}>${cutMiddle(piece, URL_LETTERS)}</bdi>`;
    return html`<${Time} at=${piece} />`;
  })}`;
}
