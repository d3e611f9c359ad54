import { html, useEffect } from '../../vendor/preact.js';

/**
 * The page of one question, alone in the middle.
 * @param {{ title: string, children: unknown, below?: unknown }} props
 */
export function Door({ title, children, below }) {
  useEffect(() => {
    document.title = `${title} · Linklet`;
  }, [title]);
  return html`<div class="door">
    <p class="brand"><span class="brand-mark" aria-hidden="true"></span>Linklet</p>
    <div class="card door-card">
      <h1 tabindex="-1">${title}</h1>
      ${children}
    </div>
    ${below && html`<p class="door-below">${below}</p>`}
  </div>`;
}
