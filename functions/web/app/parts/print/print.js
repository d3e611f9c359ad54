// A page on paper, or as a PDF: its styles, what only paper says, and a way to print without the browser's menu.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { fullTime } from '../../core/format.js';
import { loadStyles } from '../../core/styles.js';

void loadStyles(new URL('./print.css', import.meta.url), 'print');

/** What isn't read by then isn't printed. */
const MOST_WAIT_MS = 8_000;
const LOOK_EVERY_MS = 50;

/** What the page's numbers are of, and when they were printed. @param {{ parts: (string | false | undefined)[] }} props */
export function PrintedNote({ parts }) {
  const [at, setAt] = useState(() => new Date().toISOString());
  usePrinting(() => setAt(new Date().toISOString()));
  return html`<p class="printed-note" hidden>${[...parts.filter(Boolean), `Printed ${fullTime(at)}`].join(' · ')}</p>`;
}

/** Hears that the page is about to be printed, by whatever means. @param {() => void} act */
export function usePrinting(act) {
  useEffect(() => {
    addEventListener('beforeprint', act);
    return () => removeEventListener('beforeprint', act);
  }, []);
}

/** Prints once everything is read that is read when somebody comes to it. */
export async function printPage() {
  dispatchEvent(new Event('beforeprint'));
  const until = Date.now() + MOST_WAIT_MS;
  const pause = () => new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
  do await pause();
  while (document.querySelector('main :is(.skeleton, .skeleton-text, .unseen, .waiting)') && Date.now() < until);
  print();
}
