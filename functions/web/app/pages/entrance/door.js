import { html, useEffect, useRef } from '../../vendor/preact.js';
import { Notice } from '../../ui/states.js';

/**
 * The page of one question, alone in the middle.
 * @param {{ title: string, children: unknown, below?: unknown }} props
 */
export function Door({ title, children, below }) {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = useRef(title);
  useEffect(() => {
    document.title = `${title} · Linklet`;
    // What was pressed is gone with the form.
    if (shown.current !== title) heading.current?.focus();
    shown.current = title;
  }, [title]);
  return html`<div class="door">
    <p class="brand"><span class="brand-mark" aria-hidden="true"></span>Linklet</p>
    <div class="card door-card">
      <h1 ref=${heading} tabindex="-1">${title}</h1>
      ${children}
    </div>
    ${below && html`<p class="door-below">${below}</p>`}
  </div>`;
}

/** What has come of a form that it takes the place of. It has the focus, so that it is read. @param {{ children: unknown }} props */
export function Outcome({ children }) {
  const text = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => text.current?.focus(), []);
  return html`<div ref=${text} tabindex="-1"><${Notice} tone="good">${children}<//></div>`;
}
