// Where a file is dropped or chosen.

import { html, useRef, useState } from '../../vendor/preact.js';
import { Button } from '../../ui/button.js';
import { useId } from '../../ui/field.js';
import { Icon } from '../../ui/icons.js';
import { sizeOf } from '../download/download.js';

/** @typedef {(file: File | undefined) => void} OnFile */

/** @param {{ onFile: OnFile }} props */
export function FileDrop({ onFile }) {
  const { isOver, onDrop, onDragOver, onDragLeave } = useDrop(onFile);
  const id = useId('drop');
  return html`<div class=${`file-drop ${isOver ? 'over' : ''}`} onDrop=${onDrop} onDragOver=${onDragOver} onDragLeave=${onDragLeave}>
    <${Icon} name="save" />
    <p><strong>Drop a file here</strong></p>
    <p class="hint" id=${id}>An export of Bitly, Dub, Rebrandly, Short.io, Shlink, YOURLS, Kutt, Polr, Sink, or Linklet: CSV, JSON, or an SQL dump. Or any CSV file with a column of destinations.</p>
    <${Picker} describedBy=${id} onFile=${onFile}>Choose a file<//>
  </div>`;
}

/** @param {{ file: File, about?: string, isDisabled: boolean, onFile: OnFile }} props */
export function ChosenFile({ file, about, isDisabled, onFile }) {
  const { isOver, onDrop, onDragOver, onDragLeave } = useDrop(onFile);
  return html`<div class=${`file-chosen ${isOver ? 'over' : ''}`} onDrop=${onDrop} onDragOver=${onDragOver} onDragLeave=${onDragLeave}>
    <span class="line-text"><bdi class="line-title">${file.name}</bdi><span class="small-print" role="status">${sizeOf(file)}${about && ` · ${about}`}</span></span>
    <${Picker} isDisabled=${isDisabled} onFile=${onFile}>Choose another file<//>
  </div>`;
}

/** @param {{ children: unknown, describedBy?: string, isDisabled?: boolean, onFile: OnFile }} props */
function Picker({ children, describedBy, isDisabled = false, onFile }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const choose = (/** @type {any} */ event) => {
    onFile(event.target.files[0]);
    // The same file can be chosen again.
    event.target.value = '';
  };
  return html`<${Button} class="compact" disabled=${isDisabled} aria-describedby=${describedBy} onClick=${() => input.current?.click()}>${children}<//>
    <input ref=${input} hidden type="file" aria-label="File to import" accept=".csv,.tsv,.txt,.json,.jsonl,.ndjson,.sql" onChange=${choose} />`;
}

/** @param {OnFile} onFile */
function useDrop(onFile) {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    onDrop: (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      setOver(false);
      onFile(event.dataTransfer?.files[0]);
    },
    onDragOver: (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
  };
}
