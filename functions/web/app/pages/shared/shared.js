// Statistics that somebody has shared: for whoever has the address, also without an account.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { route } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { prepareCharts } from '../../parts/chart/chart.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { Icon } from '../../ui/icons.js';
import { Failure, Notice } from '../../ui/states.js';
import { LinkNumbers } from './link-numbers.js';
import { keepShare, useShare } from './share.js';
import { TagNumbers } from './tag-numbers.js';

/** Wider than other pages that stand alone. Its styles are few, and nobody else's first view has to load them. */
/** As wide as a password. */
const DOOR = { width: 'min(420px, 100%)' };
const WIDE = { width: 'min(1080px, 100%)', placeSelf: 'start center' };

export function SharedPage() {
  const share = useShare(useStore(route));
  const [password, setPassword] = useState(share?.password);
  useEffect(prepareCharts, []);
  // Addresses of shares are for those who were given them.
  useEffect(() => {
    const robots = Object.assign(document.createElement('meta'), { name: 'robots', content: 'noindex' });
    document.head.append(robots);
    return () => robots.remove();
  }, []);
  if (!share || !['links', 'tags'].includes(share.kind)) return html`<${Frame} title="Shared statistics"><${Over} /><//>`;
  const enter = (/** @type {string} */ typed) => {
    keepShare({ ...share, password: typed });
    setPassword(typed);
  };
  const heading = share.kind === 'tags' ? html`<span class="tag-heading"><${Icon} name="tag" /><span class="hidden">Tag </span><bdi>${share.name}</bdi></span>` : html`<bdi>${share.name}</bdi>`;
  const Numbers = share.kind === 'tags' ? TagNumbers : LinkNumbers;
  const refused = (/** @type {import('../../core/api.js').ApiError} */ error, /** @type {() => void} */ retry) => html`<${Refusal} error=${error} retry=${retry} enter=${enter} />`;
  return html`<${Frame} title=${share.name} heading=${heading}><${Numbers} key=${`${share.token} ${password}`} share=${share} refused=${refused} /><//>`;
}

/** @param {{ title: string, heading?: unknown, children: unknown }} props */
function Frame({ title, heading = title, children }) {
  useEffect(() => {
    document.title = `${title} · Statistics · Linklet`;
  }, [title]);
  return html`<div class="page" style=${WIDE}>
    <header class="page-head">
      <h1 tabindex="-1">${heading}</h1>
      <p class="brand"><span class="brand-mark" aria-hidden="true"></span>Linklet</p>
    </header>
    ${children}
  </div>`;
}

/** Why there are no numbers. @param {{ error: import('../../core/api.js').ApiError, retry: () => void, enter: (password: string) => void }} props */
function Refusal({ error, retry, enter }) {
  if (error.code === 'share_password_required' || error.code === 'share_password_wrong') return html`<${PasswordForm} isWrong=${error.code === 'share_password_wrong'} enter=${enter} />`;
  if (error.status === 404 || error.status === 410) return html`<${Over} />`;
  return html`<${Failure} what="Couldn’t load the statistics." error=${error} retry=${retry} />`;
}

const Over = () => html`<section class="card"><p>These statistics are no longer shared. Ask the person who sent you the URL for a new one.</p></section>`;

/** @param {{ isWrong: boolean, enter: (password: string) => void }} props */
function PasswordForm({ isWrong, enter }) {
  const [typed, setTyped] = useState('');
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (typed) enter(typed);
  };
  return html`<form class="card stack" style=${DOOR} onSubmit=${submit}>
    <p>These statistics are protected by a password.</p>
    ${isWrong && html`<${Notice} tone="bad">Wrong password.<//>`}
    <${Field} label="Password" type="password" autofocus autocomplete="current-password" value=${typed} onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} />
    <${Button} kind="primary" type="submit" class="whole">Show statistics<//>
  </form>`;
}
