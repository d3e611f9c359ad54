// The drawer that brings links from another system: a file is looked at, tried, and sent, and what failed can be saved.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { href } from '../../core/router.js';
import { loadStyles } from '../../core/styles.js';
import { guardChanges } from '../../core/version.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { ask, Dialog } from '../../ui/dialog.js';
import { Field, useId } from '../../ui/field.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { FormFailure, Skeleton } from '../../ui/states.js';
import { rememberTags, useTagNames } from '../link-changes/counts.js';
import { forgetNumbers } from '../link-changes/link-changes.js';
import { TagInput } from '../link-form/tags.js';
import { ChosenFile, FileDrop } from './file.js';
import { knownReading, rememberReading, zonesOfBrowser } from './remembered.js';
import { ImportResult, ImportRows } from './result.js';
import { encodingOf, look, noProgress, sendFile } from './sending.js';

await loadStyles(new URL('./import.css', import.meta.url));

/** @typedef {import('./sending.js').Row} Row */
/** @typedef {import('./sending.js').Progress} Progress */

/** @type {[string, string][]} */
const FORMATS = [
  ['bitly', 'Bitly'],
  ['dub', 'Dub'],
  ['kutt', 'Kutt'],
  ['linklet', 'Linklet'],
  ['polr', 'Polr'],
  ['rebrandly', 'Rebrandly'],
  ['shlink', 'Shlink'],
  ['shortio', 'Short.io'],
  ['sink', 'Sink'],
  ['yourls', 'YOURLS'],
  ['table', 'Another list'],
];

/** @typedef {'skip' | 'new_code'} Conflict */
/** @type {{ value: Conflict, label: string }[]} */
const CONFLICTS = [
  { value: 'skip', label: 'Skip the link' },
  { value: 'new_code', label: 'Generate a code' },
];
const SHOWN_ROWS = 5;
const { here, zones } = zonesOfBrowser();

/** @param {{ onClose: () => void }} props */
export function ImportDrawer({ onClose }) {
  const known = useTagNames();
  const [file, setFile] = useState(/** @type {File | undefined} */ (undefined));
  const [tags, setTags] = useState(/** @type {string[]} */ ([]));
  const [conflict, setConflict] = useState(/** @type {Conflict} */ ('skip'));
  const [format, setFormat] = useState('');
  const [from, setFrom] = useState('');
  const [timezone, setTimezone] = useState(here);
  const [seen, setSeen] = useState(/** @type {{ format: string, results: Row[] } | undefined} */ (undefined));
  const [run, setRun] = useState(/** @type {{ isDry: boolean, isOver: boolean, progress: Progress } | undefined} */ (undefined));
  const [isStopping, setStopping] = useState(false);
  const [failure, setFailure] = useState(/** @type {any} */ (undefined));
  const encoding = useRef('utf-8');
  const looks = useRef(0);
  const stopping = useRef(/** @type {AbortController | undefined} */ (undefined));
  const { part, focusLater } = useLaterFocus();
  const isRunning = Boolean(run && !run.isOver);
  useEffect(() => guardChanges(() => isRunning), [isRunning]);
  useEffect(() => () => stopping.current?.abort(), []);

  const choices = { format: format || undefined, from: hostIn(from), tags, on_conflict: conflict, timezone };

  /** @param {File | undefined} chosen */
  async function choose(chosen) {
    if (!chosen || isRunning) return;
    setFile(chosen);
    setSeen(undefined);
    const reading = knownReading(chosen) ?? { format: '', from, timezone };
    setFormat(reading.format);
    setFrom(reading.from);
    setTimezone(reading.timezone);
    await lookAgain(chosen, { ...choices, format: reading.format || undefined, from: hostIn(reading.from), timezone: reading.timezone }, true);
  }

  /** @param {File} chosen @param {import('./sending.js').Choices} wanted @param {boolean} [isNew] */
  async function lookAgain(chosen, wanted, isNew = false) {
    const turn = (looks.current += 1);
    setRun(undefined);
    // The fields with which somebody mends a failure stay meanwhile.
    if (isNew) setFailure(undefined);
    try {
      if (isNew) encoding.current = await encodingOf(chosen);
      const found = await look(chosen, encoding.current, wanted);
      if (turn !== looks.current) return;
      if (isNew) focusLater('.import-first');
      setSeen(found);
      setFailure(found ? undefined : { message: 'No links were recognized in this file.' });
    } catch (error) {
      if (turn !== looks.current) return;
      setSeen(undefined);
      setFailure(error);
    }
  }

  /** @param {Conflict} chosen */
  function chooseConflict(chosen) {
    setConflict(chosen);
    if (file) void lookAgain(file, { ...choices, on_conflict: chosen });
  }

  /** @param {string} chosen */
  function chooseFormat(chosen) {
    setFormat(chosen);
    if (file) void lookAgain(file, { ...choices, format: chosen || undefined });
  }

  /** @param {string} chosen */
  function chooseZone(chosen) {
    setTimezone(chosen);
    if (file) void lookAgain(file, { ...choices, timezone: chosen });
  }

  /** @param {boolean} isDry @param {Progress} [begun] where it goes on */
  async function send(isDry, begun) {
    if (!file) return;
    setFailure(undefined);
    setStopping(false);
    if (!isDry) rememberReading(file, { timezone, from, format });
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    let latest = begun ?? noProgress();
    const tell = (/** @type {Progress} */ progress) => setRun({ isDry, isOver: false, progress: (latest = progress) });
    tell(latest);
    try {
      latest = await sendFile(file, encoding.current, choices, { isDry, signal, tell, from: latest });
    } catch (error) {
      setFailure(error);
    }
    setRun({ isDry, isOver: true, progress: { ...latest, retryAfter: undefined } });
    focusLater('.import-result');
    if (isDry || !(latest.links.created || latest.clicks.created)) return;
    rememberTags(tags);
    forgetNumbers();
  }

  function stop() {
    setStopping(true);
    stopping.current?.abort();
  }

  async function close() {
    const question = { title: 'Stop the import?', text: 'Imported links stay. You can import the same file again later: no link or click is imported twice.', action: 'Stop', dismiss: 'Keep importing', isDanger: true };
    if (isRunning && !(await ask(question))) return;
    onClose();
  }

  const isImport = Boolean(run && !run.isDry);
  const hasEnded = Boolean(run?.isOver && run.progress.isDone && isImport);
  const isStopped = Boolean(run?.isOver && !run.progress.isDone && isImport);
  const begin = isStopped
    ? html`<${Button} kind="primary" onClick=${() => send(false, run?.progress)}>Continue<//>`
    : html`<${Button} onClick=${() => send(true)}>Test without importing<//><${Button} kind="primary" onClick=${() => send(false)}>Import<//>`;
  const footer = isRunning
    ? html`<${Button} isBusy=${isStopping} onClick=${stop}>${isStopping ? 'Stopping…' : 'Stop'}<//>`
    : html`${hasEnded && html`<${Button} href=${href('links')}>Show links<//>`}
        <${Button} kind=${hasEnded ? 'primary' : 'plain'} onClick=${close}>${hasEnded ? 'Done' : isStopped ? 'Close' : 'Cancel'}<//>
        ${seen && !hasEnded && begin}`;
  return html`<${Dialog} kind="drawer" isWide title="Import links" onClose=${close} footer=${footer}>
    <div class="stack" ref=${part}>
      ${file
        ? html`<${ChosenFile} file=${file} about=${seen && `${nameOfFormat(format || seen.format)}${ENCODINGS[encoding.current] ?? ''}`} isDisabled=${isRunning} onFile=${choose} />`
        : html`<${FileDrop} onFile=${choose} />`}
      <${FormFailure} error=${failure} />
      ${run && html`<${ImportResult} ...${run} />`}
      ${file && !seen && !failure && html`<${Skeleton} rows=${4} height=${32} />`}
      ${seen && !run && html`<${First} seen=${seen} />`}
      ${file && (seen || failure) && !isImport && !isRunning && html`
        <div class="import-fields">
          <${Field} label="Format" as="select" value=${format} onChange=${(/** @type {any} */ event) => chooseFormat(event.target.value)}>
            <option value="">${seen ? `${nameOfFormat(seen.format)} (recognized)` : 'Recognize'}</option>
            ${FORMATS.filter(([name]) => name !== seen?.format || name === format).map(([name, label]) => html`<option value=${name}>${label}</option>`)}
          <//>
          <${Field} label="Old short domain" isOptional placeholder="bit.ly" spellcheck="false" autocapitalize="none" hint="For rows that have a code and no short URL." value=${from} onInput=${(/** @type {any} */ event) => setFrom(event.target.value)} />
        </div>
        <${Field} label="Time zone" as="select" hint="For times without one. Use the same zone each time you import this file, or its clicks count twice." value=${timezone} onChange=${(/** @type {any} */ event) => chooseZone(event.target.value)}>
          ${[...new Set([...zones, timezone])].map((zone) => html`<option value=${zone}>${zone.replaceAll('_', ' ')}</option>`)}
        <//>
        <${TagInput} label="Tags for all links" isOptional value=${tags} onChange=${setTags} known=${known} />
        <${Conflicts} value=${conflict} onChange=${chooseConflict} />`}
    </div>
  <//>`;
}

/** @type {Record<string, string>} */
const ENCODINGS = { 'windows-1252': ' · Windows-1252', 'utf-16le': ' · UTF-16', 'utf-16be': ' · UTF-16' };

/** What of an address is its host. @param {string} from */
const hostIn = (from) => from.trim().replace(/^https?:\/\//i, '').replace(/\/.*$/, '') || undefined;

/** @param {string} format */
const nameOfFormat = (format) => FORMATS.find(([name]) => name === format)?.[1] ?? format;

/** @param {{ seen: { results: Row[] } }} props */
const First = ({ seen }) => html`<section class="stack tight">
  <h3 class="import-first" tabindex="-1">First rows</h3>
  <${ImportRows} label="First rows" rows=${seen.results.slice(0, SHOWN_ROWS)} isDry=${true} />
</section>`;

/** @param {{ value: Conflict, onChange: (chosen: Conflict) => void }} props */
function Conflicts({ value, onChange }) {
  const id = useId('conflicts');
  return html`<div class="field" role="group" aria-labelledby=${id}>
    <span class="label" id=${id}>If a code is taken or unsupported</span>
    <div><${Choice} label="If a code is taken or unsupported" value=${value} options=${CONFLICTS} onChange=${onChange} /></div>
    <p class="hint">${value === 'skip' ? 'These links aren’t imported. The results list them.' : 'The old short URL becomes the link’s external ID.'}</p>
  </div>`;
}
