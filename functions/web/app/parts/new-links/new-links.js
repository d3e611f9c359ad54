// The drawer in which many links are made: from lines that somebody has written, from a spreadsheet, or from a file.

import { html, useEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { ApiError, call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { counted, number } from '../../core/format.js';
import { noteChange, noteMade } from '../../core/lists.js';
import { newId } from '../../core/random.js';
import { loadStyles } from '../../core/styles.js';
import { guardChanges } from '../../core/version.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { ask, Dialog } from '../../ui/dialog.js';
import { Checkbox, Field } from '../../ui/field.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { ProgressText, sendAll } from '../bulk/bulk.js';
import { rememberTags, useTagNames } from '../link-changes/counts.js';
import { forgetNumbers } from '../link-changes/link-changes.js';
import { TagInput } from '../link-form/tags.js';
import { CampaignFields, rememberCampaigns } from '../utm/utm.js';
import { MadeLinks } from './made.js';
import { textOf, unclearLines, withCodes } from './reading.js';
import { placeOfError, ROWS_SHOWN, SheetTable } from './sheet-table.js';
import { cellOf, doublesOf, haveCampaigns, labelOf, mistakesOf, MOST_ROWS, newLinkOf, sheetOf, textOfSheet, urlOf } from './sheet.js';

await loadStyles(new URL('./new-links.css', import.meta.url));

/** @typedef {import('./sheet.js').Sheet} Sheet */
/** @typedef {import('./sheet.js').SheetRow} SheetRow */
/** @typedef {import('./sheet.js').RowErrors} RowErrors */
/** @typedef {import('./made.js').Made} Made */
/** `isFresh` is nothing until somebody has decided, and `meaning` what the end of lines like `https://example.com/a,code` is. @typedef {{ text: string, tags: string[], campaign: import('../utm/campaign.js').CampaignValues, isFresh: boolean | null, meaning: '' | 'url' | 'code' }} Values */
/** Why a row was refused, as it was then. @typedef {{ row: SheetRow, errors: RowErrors }} Refusal */

const SHOWN_MISTAKES = 5;
const MOST_LINES = 14;
const MOST_FILE_BYTES = 5_000_000;

/**
 * @param {object} props
 * @param {string} [props.text] what was pasted already
 * @param {() => void} props.onMade is told when there are new links
 * @param {() => void} props.onClose
 */
export function NewLinks({ text: pasted = '', onMade, onClose }) {
  const known = useTagNames();
  const keys = useRef(/** @type {Map<string, string>} */ (new Map()));
  const [begun] = useState(() => sheetOf(pasted));
  // The table, while what was pasted is shown as one.
  const [table, setTable] = useState(begun.isTable ? begun : null);
  const [from, setFrom] = useState(0);
  const [results, setResults] = useState(/** @type {Map<number, Made>} */ (new Map()));
  const [refusals, setRefusals] = useState(/** @type {Map<number, Refusal>} */ (new Map()));
  const [progress, setProgress] = useState(/** @type {import('../bulk/bulk.js').Progress | null} */ (null));
  const [summary, setSummary] = useState(begun.isTable ? wordsOf(begun) : '');
  const [isWriting, setWriting] = useState(true);
  const [isRetry, setRetry] = useState(false);
  /** What was sent last, in case it is undone. */
  const sent = useRef(/** @type {Sheet | null} */ (null));
  const { part, focusLater } = useLaterFocus();
  /** @type {import('../../core/form.js').Form<Values>} */
  const form = useForm(/** @type {Values} */ ({ text: begun.isTable ? '' : pasted, tags: [], campaign: {}, isFresh: null, meaning: '' }), send, { check });
  const { values, errors, set, isBusy } = form;

  const first = Math.max(0, ...results.keys()) + 1;
  const unclear = useMemo(() => (table || begunWithHead(values.text) ? [] : unclearLines(values.text)), [table, values.text]);
  /** @type {Sheet} */
  const written = useMemo(() => sheetOf(values.meaning === 'code' ? withCodes(values.text) : values.text, first), [values.text, values.meaning, first]);
  const sheet = table ?? written;
  const { rows } = sheet;
  const mistakes = useMemo(() => (table ? mistakesOf(table) : /** @type {ReturnType<typeof mistakesOf>} */ (new Map())), [table]);
  const wrong = new Map([...refusalsOf(sheet, refusals), ...mistakes]);
  const areFresh = values.isFresh ?? haveCampaigns(sheet, values.campaign);
  const made = [...results.values()].sort((a, b) => a.id - b.id);

  const isUnsent = useRef(false);
  isUnsent.current = rows.length > 0;
  useEffect(() => guardChanges(() => isUnsent.current), []);

  /** Shows a table if it is one, and lines otherwise. @param {string} text @returns {boolean} whether it is one */
  function take(text) {
    const read = sheetOf(text, first);
    setRetry(false);
    setFrom(0);
    if (read.isTable) {
      setTable(read);
      setSummary(wordsOf(read));
      focusLater(mistakesOf(read).size > 0 ? '.form-summary' : '.sheet');
    }
    return read.isTable;
  }

  /** @param {ClipboardEvent} event */
  function onPaste(event) {
    // What is added to other lines is a line, too.
    if (values.text.trim() === '' && take(event.clipboardData?.getData('text/plain') ?? '')) event.preventDefault();
  }

  /** @param {File | undefined} file */
  async function takeFile(file) {
    if (!file || isBusy) return;
    const text = file.size > MOST_FILE_BYTES ? undefined : textOf(await file.arrayBuffer());
    if (text === undefined || text.includes('\0')) {
      setTable(null);
      form.setError('text', text === undefined ? 'This file is too large.' : 'This isn’t a CSV file. Save your spreadsheet as CSV, or copy its cells and paste them here.');
      return focusLater('textarea');
    }
    set('text', '');
    if (take(text)) return;
    setTable(null);
    set('text', text);
    focusLater('textarea');
  }

  /** @param {Values} now @returns {Partial<Record<keyof Values, string>>} */
  function check(now) {
    const found = mistakesOf(sheet);
    if (rows.length === 0) return { text: 'Paste at least one URL.' };
    if (unclear.length > 0 && !now.meaning) return { meaning: 'Choose what the end of these lines is.' };
    const [twice] = doublesOf(sheet);
    if (twice) return { text: `Several columns are ${labelOf(twice)}. Choose one of them.` };
    if (rows.length > MOST_ROWS) return { text: `You can create ${number(MOST_ROWS)} links at once. These are ${number(rows.length)}.` };
    if (found.size > 0) show(sheet);
    return { text: found.size > 0 ? `${counted(found.size, 'row')} can’t be used.` : undefined };
  }

  /** @param {Sheet} next */
  function show(next) {
    setTable(next);
    form.setError('text', '');
    if (from >= next.rows.length) setFrom(0);
  }

  /** @param {Values} now */
  async function send(now) {
    setSummary('');
    sent.current = sheet;
    const all = { ...now, isFresh: areFresh };
    const bytesOf = (/** @type {SheetRow} */ row) => new TextEncoder().encode(JSON.stringify(newLinkOf(sheet, row, all))).length;
    const outcomes = await sendAll(rows, (some) => create(sheet, some, all), { tell: setProgress, bytesOf });
    setProgress(null);
    const failed = outcomes.filter(({ error }) => error);
    const unsent = failed.find(({ isSent }) => !isSent);
    setRetry(failed.length > 0);
    // Nothing has changed, not even what is shown.
    if (unsent && failed.every(({ isSent }) => !isSent) && failed.length === rows.length) throw unsent.error;
    const done = outcomes.flatMap(({ thing, link }) => (link ? [{ thing, link }] : []));
    const settled = outcomes.filter(({ isSent }) => isSent).map(({ thing, link, error }) => madeOf(sheet, thing, now.campaign, link, error));
    setResults((before) => new Map([...before, ...settled.map((one) => /** @type {const} */ ([one.id, one]))]));
    setRefusals(new Map(failed.flatMap(({ thing, error, isSent }) => (isSent && error ? [[thing.id, { row: thing, errors: { [error.field ?? 'url']: error.message } }]] : []))));
    set('text', '');
    setFrom(0);
    setTable(failed.length > 0 ? { ...sheet, rows: failed.map(({ thing }) => thing) } : null);
    setWriting(failed.length > 0);
    noteDone(sheet, done, all);
    if (done.length > 0) onMade();
    setSummary(summaryOf(done.map(({ link }) => link), failed.length));
    if (unsent) throw unsent.error;
    focusLater(failed.length > 0 ? '.form-summary' : '.made-links button');
  }

  /** @param {Sheet} from @param {SheetRow[]} some @param {Parameters<typeof newLinkOf>[2]} all */
  async function create(from, some, all) {
    const body = JSON.stringify({ links: some.map((row) => newLinkOf(from, row, all)) });
    // As long as there is no answer, a repeated attempt is the same one.
    const key = keys.current.get(body) ?? newId();
    keys.current.set(body, key);
    const answer = await call('POST /api/links/bulk', { body, idempotencyKey: key });
    keys.current.delete(body);
    return answer;
  }

  async function undo() {
    const fresh = made.filter(({ link }) => link && !link.reused);
    const question = { title: `Delete ${counted(fresh.length, 'link')}?`, text: 'They were just created here. You can edit the rows and create them again.', action: `Delete ${number(fresh.length)}`, isDanger: true };
    if (!(await ask(question))) return;
    const outcomes = await sendAll(fresh, (some) => call('DELETE /api/links/bulk', { query: { codes: some.map(({ link }) => link.short_code).join(), purge: true } }), { tell: setProgress });
    setProgress(null);
    const gone = new Set(outcomes.flatMap(({ thing, error }) => (error ? [] : [thing.id])));
    for (const { id, link } of fresh) if (gone.has(id)) noteChange({ archived: false, status: 'active', total_clicks: 0, ...link });
    setResults((before) => new Map([...before].filter(([id]) => !gone.has(id))));
    forgetNumbers();
    onMade();
    const error = outcomes.find((outcome) => outcome.error)?.error;
    if (error) return toastFailure('Couldn’t delete all of these links.', error);
    toast(`${counted(gone.size, 'link')} deleted.`);
    if (sent.current) setTable({ ...sent.current, rows: sent.current.rows.filter(({ id }) => gone.has(id)) });
    setSummary('');
    setRetry(false);
    setWriting(true);
    focusLater('.sheet');
  }

  async function close() {
    const count = counted(rows.length, 'link');
    const [title, text] = isBusy
      ? [`Close before ${count} ${rows.length === 1 ? 'is' : 'are'} created?`, 'You won’t see the results here.']
      : ['Discard changes?', `You haven’t created ${count} yet.`];
    const question = { title, text, action: isBusy ? 'Close' : 'Discard', dismiss: isBusy ? 'Wait' : 'Keep editing', isDanger: true };
    if (rows.length === 0 || (await ask(question))) onClose();
  }

  function writeMore() {
    setSummary('');
    setRetry(false);
    setWriting(true);
    focusLater('textarea');
  }

  function editText() {
    set('text', table ? textOfSheet(table) : '');
    // What is written anew is counted anew.
    setResults((before) => new Map([...before].filter(([, { link }]) => link)));
    setRefusals(new Map());
    setTable(null);
    setSummary('');
    focusLater('textarea');
  }

  /** @param {number} id */
  function remove(id) {
    const index = rows.findIndex((row) => row.id === id);
    const left = rows.filter((row) => row.id !== id);
    const next = left[Math.min(index, left.length - 1)];
    if (next) show({ ...sheet, rows: left });
    else editNothing();
    focusLater(next ? placeOfError(sheet, next.id, 'url') : 'textarea');
  }

  function editNothing() {
    setTable(null);
    setRetry(false);
    setSummary('');
  }

  /** @param {number} id @param {string} field */
  function goTo(id, field) {
    const index = rows.findIndex((row) => row.id === id);
    setFrom(index - (index % ROWS_SHOWN));
    // Also if nothing else changes.
    setRefusals((before) => new Map(before));
    focusLater(placeOfError(sheet, id, field));
  }

  const action = isRetry ? `Try ${rows.length === 1 ? 'this one' : `these ${number(rows.length)}`} again` : `Create ${rows.length > 0 ? counted(rows.length, 'link') : 'links'}`;
  const canUndo = !isBusy && !isWriting && made.some(({ link }) => link && !link.reused);
  const footer = isWriting
    ? html`<${Button} onClick=${close}>${made.length > 0 ? 'Done' : 'Cancel'}<//>
        <${Button} kind="primary" type="submit" isBusy=${isBusy} title="Ctrl or ⌘ + Enter">${action}<//>`
    : html`${canUndo && html`<${Button} kind="quiet" class="start" onClick=${undo}>Undo<//>`}<${Button} icon="plus" onClick=${writeMore}>Create more<//> <${Button} kind="primary" onClick=${close}>Done<//>`;
  const onDrop = (/** @type {DragEvent} */ event) => {
    if (!isWriting || !event.dataTransfer?.files.length) return;
    event.preventDefault();
    void takeFile(event.dataTransfer.files[0]);
  };
  return html`<${Dialog} kind="drawer" isWide title="Bulk create" onClose=${close} onSubmit=${isWriting ? form.submit : ignore} footer=${footer}>
    <div class="stack" ref=${part} onDragOver=${(/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes('Files') && event.preventDefault()} onDrop=${onDrop}>
      <p class=${summary || progress ? '' : 'hidden'} role="status">${progress ? html`<${ProgressText} progress=${progress} />` : html`<strong>${summary}</strong>`}</p>
      <${FormFailure} error=${form.failure} />
      ${isWriting &&
      html`<${Mistakes} wrong=${wrong} count=${rows.length} onGo=${goTo} />
        ${table
          ? html`${errors.text && wrong.size === 0 && html`<div class="form-summary" tabindex="-1"><${Notice} tone="bad">${errors.text}<//></div>`}
              <${SheetTable} sheet=${table} onChange=${show} errors=${wrong} from=${from} onFrom=${setFrom} onRemove=${remove} isBusy=${isBusy} />
              <p class="row"><${Button} class="compact" icon="edit" disabled=${isBusy} onClick=${editText}>Edit as text<//></p>`
          : html`<${Lines} form=${form} onPaste=${onPaste} onFile=${takeFile} isRetry=${isRetry} rows=${Math.min(Math.max(rows.length + 1, made.length > 0 ? 3 : 8), MOST_LINES)} />
              ${unclear.length > 0 && html`<${Meaning} lines=${unclear} value=${values.meaning} onChange=${(/** @type {string} */ meaning) => set('meaning', meaning)} error=${errors.meaning} />`}`}
        <${TagInput} label="Tags for all links" isOptional hint="Press Enter or comma to add a tag." value=${values.tags} onChange=${(/** @type {string[]} */ tags) => set('tags', tags)} known=${known} />
        <${CampaignForAll} values=${values.campaign} onChange=${(/** @type {object} */ changed) => set('campaign', { ...values.campaign, ...changed })} />
        <${Checkbox}
          label="Create a new link even if the URL already has one"
          hint="Tracking parameters such as utm_source don’t count when links are matched. Without this, links that differ by UTM alone become one."
          checked=${areFresh}
          onChange=${(/** @type {boolean} */ isFresh) => set('isFresh', isFresh)}
        />`}
      <${MadeLinks} list=${made} />
    </div>
  <//>`;
}

const EXAMPLE = 'https://example.com/spring\nhttps://example.com/summer\tsummer-sale';

const ignore = (/** @type {Event} */ event) => event.preventDefault();

/** Columns that are named leave nothing unclear. @param {string} text */
const begunWithHead = (text) => sheetOf(text.slice(0, text.indexOf('\n') + 1)).isTable;

/** @param {Sheet} sheet */
function wordsOf({ columns, rows }) {
  const names = columns.map(({ field }) => labelOf(field)).filter(Boolean);
  return `${counted(rows.length, 'row')}: ${names.join(', ')}.`;
}

/** @param {Sheet} sheet @param {SheetRow} row @param {import('../utm/campaign.js').CampaignValues} campaign @param {any} link @param {ApiError | undefined} error @returns {Made} */
const madeOf = (sheet, row, campaign, link, error) => ({
  id: row.id,
  url: urlOf(sheet, row, campaign),
  code: cellOf(sheet, row, 'custom_code'),
  title: cellOf(sheet, row, 'title'),
  link,
  why: error?.message,
});

/** @param {Sheet} sheet @param {{ thing: SheetRow, link: any }[]} done @param {Parameters<typeof newLinkOf>[2]} all */
function noteDone(sheet, done, all) {
  if (done.length === 0) return;
  for (const { thing, link } of done) {
    const { tags = [] } = newLinkOf(sheet, thing, all);
    rememberTags(tags);
    noteMade(link, { archived: false, status: 'active', total_clicks: 0, ...link, tags });
  }
  rememberCampaigns(done.map(({ thing }) => urlOf(sheet, thing, all.campaign)));
  forgetNumbers();
}

/** What was refused, as long as nobody has changed it. @param {Sheet} sheet @param {Map<number, Refusal>} refusals @returns {[number, RowErrors][]} */
const refusalsOf = ({ rows }, refusals) => rows.flatMap((row) => {
  const refusal = refusals.get(row.id);
  return refusal?.row === row ? [[row.id, refusal.errors]] : [];
});

/** @param {any[]} done @param {number} failed */
function summaryOf(done, failed) {
  const reused = done.filter((link) => link.reused).length;
  const fresh = done.length - reused;
  const parts = [fresh > 0 && `${counted(fresh, 'link')} created`, reused > 0 && `${number(reused)} you already have`, failed > 0 && `${number(failed)} failed`];
  return `${parts.filter(Boolean).join(', ')}.`;
}

/**
 * @param {object} props
 * @param {import('../../core/form.js').Form<Values>} props.form
 * @param {(event: ClipboardEvent) => void} props.onPaste
 * @param {(file: File | undefined) => void} props.onFile
 * @param {boolean} props.isRetry
 * @param {number} props.rows
 */
function Lines({ form, onPaste, onFile, isRetry, rows }) {
  const file = useRef(/** @type {HTMLInputElement | null} */ (null));
  return html`<${Field}
      label=${isRetry ? 'Not created yet' : 'One URL per line'}
      as="textarea"
      class="code-input line-input"
      autofocus
      rows=${rows}
      spellcheck=${false}
      autocapitalize="none"
      readonly=${form.isBusy}
      onPaste=${onPaste}
      onBlur=${(/** @type {any} */ event) => (event.target.scrollLeft = 0)}
      placeholder=${EXAMPLE}
      hint=${`Up to ${number(MOST_ROWS)}. To set a custom code, add it after a tab or two spaces. You can also paste rows of a spreadsheet, with columns such as title, tags, expires and utm_source.`}
      ...${form.field('text')}
    />
    <p class="row">
      <${Button} class="compact" disabled=${form.isBusy} onClick=${() => file.current?.click()}>Choose a CSV file<//>
      <span class="hint">or drop it here</span>
      <input
        ref=${file}
        hidden
        type="file"
        aria-label="CSV file"
        accept=".csv,.tsv,.txt,text/csv,text/plain,text/tab-separated-values"
        onChange=${(/** @type {any} */ event) => {
          onFile(event.target.files[0]);
          event.target.value = '';
        }}
      />
    </p>`;
}

/** @type {{ value: 'url' | 'code', label: string }[]} */
const MEANINGS = [
  { value: 'url', label: 'Part of the URL' },
  { value: 'code', label: 'Custom code' },
];

/** Asks once for all lines. @param {{ lines: { url: string, code: string }[], value: string, onChange: (value: string) => void, error?: string }} props */
function Meaning({ lines, value, onChange, error }) {
  const [{ url, code }] = lines;
  const others = lines.length - 1;
  return html`<div class=${error ? 'field form-summary' : 'field'} tabindex="-1">
    <p>What is <bdi><strong>${code}</strong></bdi> after <bdi>${url}</bdi>?${others > 0 && ` This applies to ${counted(others, 'other line')}, too.`}</p>
    <div><${Choice} label="End of the line" value=${value} options=${MEANINGS} onChange=${onChange} /></div>
    ${error && html`<p class="field-error" role="alert">${error}</p>`}
  </div>`;
}

/** @param {{ values: object, onChange: (values: object) => void }} props */
function CampaignForAll({ values, onChange }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="fold" open=${isOpen} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary>Campaign for all links</summary>
    ${isOpen &&
    html`<div class="stack">
      <p class="hint">These are added to each destination. A UTM column of a row comes first.</p>
      <${CampaignFields} values=${values} onChange=${onChange} />
    </div>`}
  </details>`;
}

/** What is wrong, by row; each leads there. @param {{ wrong: Map<number, RowErrors>, count: number, onGo: (id: number, field: string) => void }} props */
function Mistakes({ wrong, count, onGo }) {
  if (wrong.size === 0) return null;
  const list = [...wrong].sort(([one], [other]) => one - other).flatMap(([id, errors]) => Object.entries(errors).map(([field, why]) => ({ id, field, why })));
  const more = list.length - SHOWN_MISTAKES;
  return html`<div class="form-summary" tabindex="-1">
    <${Notice} tone="bad">
      <p><strong>${wrong.size === 1 ? 'Check this row' : `Check ${number(wrong.size)} of ${counted(count, 'row')}`}:</strong></p>
      <ul>
        ${list.slice(0, SHOWN_MISTAKES).map(({ id, field, why }) => html`<li key=${`${id} ${field}`}><button type="button" class="text-button" onClick=${() => onGo(id, field)}>Row ${number(id)}</button> ${why}</li>`)}
        ${more > 0 && html`<li class="muted">and ${number(more)} more</li>`}
      </ul>
    <//>
  </div>`;
}
