// Pictures of our own on a grid of 16 px. They are decoration: what they stand for is written beside them, or is the name of
// the button that has them.

import { html } from '../vendor/preact.js';

const PATHS = {
  links: 'M6.8 9.2l2.4-2.4M7.4 4.9l1-1a2.6 2.6 0 013.7 3.7l-1 1M8.6 11.1l-1 1a2.6 2.6 0 01-3.7-3.7l1-1',
  overview: 'M2.5 13.5h11M4.5 11V8M8 11V4.5M11.5 11V6.5',
  monitoring: 'M1.5 8.5h3l1.8-4.5 3 8 1.9-3.5h3.3',
  bell: 'M4 7a4 4 0 018 0c0 3.5 1.2 4.5 1.2 4.5H2.8S4 10.5 4 7zM6.7 13.5a1.4 1.4 0 002.6 0',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 10a2 2 0 100-4 2 2 0 000 4z',
  members: 'M6 7.5a2.2 2.2 0 100-4.4 2.2 2.2 0 000 4.4zM1.9 13a4.1 4.1 0 018.2 0M10.5 3.3a2.2 2.2 0 010 4M11.9 9.5a4 4 0 012.2 3.5',
  key: 'M9.5 6.5a3 3 0 11-1.2-2.4A3 3 0 019.5 6.5zM9 8l4.5 4.5M11.5 10.5L10.3 11.7',
  list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  settings: 'M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M10 6a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM6 13a1.5 1.5 0 100-3 1.5 1.5 0 000 3z',
  account: 'M8 7.5A2.5 2.5 0 108 2.5a2.5 2.5 0 000 5zM3 13.5a5 5 0 0110 0',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  copy: 'M5.5 5.5v-2a1 1 0 011-1h6a1 1 0 011 1v6a1 1 0 01-1 1h-2M3.5 5.5h6a1 1 0 011 1v6a1 1 0 01-1 1h-6a1 1 0 01-1-1v-6a1 1 0 011-1z',
  tick: 'M3 8.5l3.2 3.2L13 5',
  qr: 'M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h1.5v1.5M13.5 9.5v.01M9.5 13.5v.01M12 12v1.5h1.5',
  edit: 'M3 13l.6-2.6 7.2-7.2a1.4 1.4 0 012 2L5.6 12.4z',
  plus: 'M8 3v10M3 8h10',
  several: 'M2.5 4h11M2.5 8h11M2.5 12h4.5M11.5 10v4M9.5 12h4',
  close: 'M4 4l8 8M12 4l-8 8',
  search: 'M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.3 10.3l3.2 3.2',
  down: 'M4.5 6.5L8 10l3.5-3.5',
  up: 'M4.5 9.5L8 6l3.5 3.5',
  right: 'M6.5 4.5L10 8l-3.5 3.5',
  out: 'M9 3h4v4M13 3L7.5 8.5M11.5 9.5v3a1 1 0 01-1 1h-7a1 1 0 01-1-1v-7a1 1 0 011-1h3',
  trash: 'M3 4.5h10M6.5 4.5v-1a1 1 0 011-1h1a1 1 0 011 1v1M4.5 4.5l.5 8a1 1 0 001 1h4a1 1 0 001-1l.5-8',
  power: 'M8 2.5v5M4.7 4.5a4.7 4.7 0 106.6 0',
  archive: 'M2.5 3h11v3h-11zM3.5 6v7h9V6M6.5 8.5h3',
  tag: 'M2.5 3.5v4l6 6 5-5-6-6h-4a1 1 0 00-1 1zM5.5 5.5h.01',
  warn: 'M8 2.5l6 11H2zM8 6.5v3.5M8 12h.01',
  jobs: 'M2.5 4.5h11M2.5 8h5.5M2.5 11.5h3.5M8.5 11l1.8 1.8 3.2-3.8',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  chart: 'M2.5 12l3.5-4 3 2 4.5-6',
  table: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M2.5 9.5h11M6.5 6.5v6',
  clock: 'M8 13.5a5.5 5.5 0 100-11 5.5 5.5 0 000 11zM8 5v3l2 1.5',
  lock: 'M4.5 7.5h7a1 1 0 011 1v4a1 1 0 01-1 1h-7a1 1 0 01-1-1v-4a1 1 0 011-1zM5.5 7.5v-2a2.5 2.5 0 015 0v2',
  picture: 'M2.5 3.5h11v9h-11zM2.5 10.5l3-3 2.5 2.5 2-2 3.5 3.5M10.5 6.2h.01',
  split: 'M2.5 8h3M13.5 4.5H10L5.5 8l4.5 3.5h3.5M11.5 2.5l2 2-2 2M11.5 9.5l2 2-2 2',
  save: 'M8 2.5v7.5M5 7l3 3 3-3M3 12.5v1h10v-1',
  refresh: 'M13 8a5 5 0 11-1.5-3.6M13 2.5v2.5h-2.5',
};

/** @typedef {keyof typeof PATHS} IconName */

/** @param {{ name: IconName }} props */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
    <path d=${PATHS[name]} />
  </svg>`;
}
