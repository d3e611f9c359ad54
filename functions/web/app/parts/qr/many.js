// The QR codes of several links, which look alike, as a ZIP with a file for each.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { counted } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Dialog } from '../../ui/dialog.js';
import { toastFailure } from '../../ui/toast.js';
import { ProgressText } from '../bulk/bulk.js';
import { drawn, loadDownload, useLook } from './chosen.js';
import { isReadable, levelOf, LookFields } from './look.js';
import { readMatrix } from './matrix.js';
import { Preview } from './preview.js';

/** @typedef {import('./chosen.js').Format} Format */
/** @typedef {import('./chosen.js').Look} Look */
/** @typedef {import('./preview.js').QrLink} QrLink */
/** @typedef {import('../download/zip.js').ZippedFile} ZippedFile */

/** The API has a limit for all requests together, of which this leaves the most to others. */
const AT_ONCE = 4;

/** @type {{ value: Format, label: string }[]} */
const FORMATS = [{ value: 'png', label: 'PNG' }, { value: 'svg', label: 'SVG' }];

/** @param {{ links: QrLink[], onClose: () => void }} props */
export function QrCodesDialog({ links, onClose }) {
  const { look, change, matrix } = useLook(links[0]);
  const [format, setFormat] = useState(/** @type {Format} */ ('png'));
  const [done, setDone] = useState(/** @type {number | null} */ (null));
  const running = useRef(/** @type {AbortController | null} */ (null));
  const stop = () => running.current?.abort();
  useEffect(() => stop, []);

  const start = async () => {
    const run = (running.current = new AbortController());
    setDone(0);
    try {
      const files = await filesOf(links, { look, format, signal: run.signal, tell: setDone });
      const { save, zipOf } = await loadDownload();
      if (!run.signal.aborted) save(zipOf(files), 'qr-codes.zip');
    } catch (error) {
      if (!run.signal.aborted) toastFailure('Couldn’t create the ZIP file.', error);
      run.abort();
    }
    setDone(null);
  };

  const isBusy = done !== null;
  const progress = html`<p class="start qr-progress" role="status">${isBusy && html`<${ProgressText} progress=${{ done, all: links.length }} />`}</p>`;
  const footer = html`${progress}
    <${Button} onClick=${isBusy ? stop : onClose}>${isBusy ? 'Stop' : 'Cancel'}<//>
    <${Button} kind="primary" isBusy=${isBusy} disabled=${isBusy || !isReadable(look)} onClick=${start}>Download ZIP<//>`;
  return html`<${Dialog} title=${`QR codes of ${counted(links.length, 'link')}`} onClose=${onClose} footer=${footer} isWide>
    <div class="qr">
      <${Preview} link=${links[0]} look=${look} matrix=${matrix} />
      <div class="stack">
        <div class="field"><span class="label">Format</span><${Choice} label="Format" value=${format} options=${FORMATS} onChange=${setFormat} /></div>
        <${LookFields} look=${look} matrix=${matrix.data} change=${change} />
      </div>
    </div>
  <//>`;
}

/**
 * @param {QrLink[]} links
 * @param {{ look: Look, format: Format, signal: AbortSignal, tell: (done: number) => void }} how
 * @returns {Promise<ZippedFile[]>} in the order of the links
 */
async function filesOf(links, { look, format, signal, tell }) {
  const { patiently } = await loadDownload();
  const names = namesOf(links);
  /** @type {ZippedFile[]} */
  const files = [];
  const left = [...links.entries()];
  let done = 0;
  const work = async () => {
    for (let next = left.shift(); next && !signal.aborted; next = left.shift()) {
      const [at, link] = next;
      const matrix = await patiently('links', () => readMatrix(link.short_code, levelOf(look), signal));
      const picture = await drawn(format, matrix, look, link);
      files[at] = { name: `${names[at]}.${format}`, content: new Uint8Array(await picture.arrayBuffer()) };
      tell((done += 1));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return files;
}

/** Codes may differ in upper and lower case only, which some file systems don't tell apart. @param {QrLink[]} links */
export function namesOf(links) {
  const taken = new Map();
  return links.map(({ short_code: code }) => {
    const key = code.toLowerCase();
    const count = (taken.get(key) ?? 0) + 1;
    taken.set(key, count);
    return count === 1 ? code : `${code}-${count}`;
  });
}
