// What every page has: its title, which takes the focus after navigation, and its actions beside it.

import { html, useEffect } from '../vendor/preact.js';

/**
 * @param {object} props
 * @param {string} props.title
 * @param {unknown} [props.heading] what stands in the heading, if it is more than the title
 * @param {unknown} [props.actions]
 * @param {boolean} [props.isTitleHidden] whether the heading is for screen readers only
 * @param {unknown} props.children
 */
export function Page({ title, heading = title, actions, isTitleHidden = false, children }) {
  useEffect(() => {
    document.title = `${title} · Linklet`;
  }, [title]);
  return html`<div class="page">
    <header class=${`page-head ${isTitleHidden && !actions ? 'hidden' : ''}`}>
      <h1 tabindex="-1" class=${isTitleHidden ? 'hidden' : ''}>${heading}</h1>
      ${actions && html`<div class="actions">${actions}</div>`}
    </header>
    ${children}
  </div>`;
}

/**
 * A part of a page with a border.
 * @param {{ title?: unknown, actions?: unknown, children: unknown, class?: string }} props
 */
export function Card({ title, actions, children, class: classes = '' }) {
  return html`<section class=${`card ${classes}`}>
    ${title && html`<header class="card-head"><h2>${title}</h2>${actions && html`<div class="actions">${actions}</div>`}</header>`}
    ${children}
  </section>`;
}
