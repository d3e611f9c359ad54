// What a page shows while it waits, when there is nothing, and when something has failed.

import { html, useEffect, useState } from '../vendor/preact.js';
import { Button } from './button.js';
import { CopyButton } from './copy.js';
import { Icon } from './icons.js';

/**
 * Grey shapes of the final size, after a moment.
 * @param {{ rows?: number, height?: number }} props
 */
export function Skeleton({ rows = 1, height = 16 }) {
  return html`<div class="skeleton" role="presentation">
    ${Array.from({ length: rows }, () => html`<div class="skeleton-row" style=${{ height: `${height}px` }}></div>`)}
    <span class="hidden">Loading</span>
  </div>`;
}

/** A text's worth of grey while it isn't known. @param {{ width?: number }} props */
export const SkeletonText = ({ width = 80 }) => html`<span class="skeleton-text" style=${{ width: `${width}px` }}></span>`;

/**
 * One sentence, one action.
 * @param {{ title: string, children?: unknown, action?: unknown }} props
 */
export function Empty({ title, children, action }) {
  return html`<div class="empty">
    <${Drawing} />
    <p class="empty-title">${title}</p>
    ${children && html`<div class="empty-text">${children}</div>`}
    ${action}
  </div>`;
}

/** Two ends that a line will join: the application's only drawing. */
function Drawing() {
  return html`<svg class="drawing" viewBox="0 0 160 48" width="160" height="48" aria-hidden="true" focusable="false">
    <circle cx="16" cy="24" r="7" /><circle cx="144" cy="24" r="7" />
    <path d="M24 24c20 0 20-14 40-14s20 28 40 28 14-14 32-14" stroke-dasharray="3 5" />
  </svg>`;
}

/**
 * What failed, and what to do.
 * @param {{ what: string, error: import('../core/api.js').ApiError, retry?: () => void }} props
 */
export function Failure({ what, error, retry }) {
  const wait = useCountdown(error);
  const isWaiting = wait > 0;
  return html`<div class="failure" role="alert">
    <${Icon} name="warn" />
    <div class="failure-text">
      <p><strong>${what}</strong> ${error.message}</p>
      ${error.correlationId &&
      html`<p class="small-print">Reference <code>${error.correlationId}</code> <${CopyButton} text=${error.correlationId} label="Copy reference" /></p>`}
    </div>
    ${retry &&
    html`<${Button} icon="refresh" onClick=${retry} disabled=${isWaiting}>${isWaiting ? `Try again in ${wait} s` : 'Try again'}<//>`}
  </div>`;
}

/** How many seconds to wait. @param {{ retryAfter?: number } | undefined} error */
export function useCountdown(error) {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const until = Date.now() + (error?.retryAfter ?? 0) * 1000;
    const tick = () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    tick();
    const timer = setInterval(tick, 500);
    return () => clearInterval(timer);
  }, [error]);
  return left;
}

/**
 * A note above a form or a page. Only a bad one or a warning is read as soon as it is there.
 * @param {{ tone?: 'plain' | 'good' | 'warn' | 'bad', children: unknown }} props
 */
export function Notice({ tone = 'plain', children }) {
  const isAlert = tone === 'bad' || tone === 'warn';
  return html`<div class=${`notice ${tone}`} role=${isAlert ? 'alert' : undefined}>
    ${isAlert && html`<${Icon} name="warn" />`}
    <div>${children}</div>
  </div>`;
}

/** Why a form wasn't sent; nothing if it was. @param {{ error?: import('../core/api.js').ApiError }} props */
export function FormFailure({ error }) {
  const wait = useCountdown(error);
  if (!error) return null;
  return html`<${Notice} tone="bad">
    ${error.message} ${error.retryAfter && (wait > 0 ? `You can try again in ${wait} s.` : 'You can try again now.')}
    ${error.correlationId && error.status >= 500 && html`<span class="small-print">Reference <code>${error.correlationId}</code></span>`}
  <//>`;
}

/**
 * What a resource shows: grey shapes, a failure, or what was read.
 * @template T
 * @param {object} props
 * @param {import('../core/resource.js').Resource<T>} props.of
 * @param {string} props.what what failed, if it did, such as `The members can’t be shown.`
 * @param {unknown} [props.waiting] shown meanwhile
 * @param {(data: T) => unknown} props.children
 */
export function Loaded({ of, what, waiting = html`<${Skeleton} rows=${3} height=${40} />`, children }) {
  if (of.data === undefined) {
    return of.error ? html`<${Failure} what=${what} error=${of.error} retry=${of.reload} />` : waiting;
  }
  return html`${of.error && html`<${Failure} what="This may be out of date." error=${of.error} retry=${of.reload} />`}${children(of.data)}`;
}
