// The drawer in which many links are made: from lines that somebody has written, or has pasted from a spreadsheet.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { counted, number } from '../../core/format.js';
import { noteMade } from '../../core/lists.js';
import { newId } from '../../core/random.js';
import { guardChanges } from '../../core/version.js';
import { Button } from '../../ui/button.js';
import { ask, Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { MOST_LINKS, ProgressText, sendAll } from '../bulk/bulk.js';
import { rememberTags, useTagNames } from '../link-changes/counts.js';
import { forgetNumbers } from '../link-changes/link-changes.js';
import { TagInput } from '../link-form/tags.js';
import { linesOf, placeOf } from './lines.js';
import { MadeLinks } from './made.js';

/** @typedef {import('./lines.js').Line} Line */
/** @typedef {import('./lines.js').WrongLine} WrongLine */
/** @typedef {import('./made.js').Made} Made */
/** @typedef {{ text: string, tags: string[] }} Values */

const SHOWN_MISTAKES = 10;
const MOST_ROWS = 14;

/**
 * @param {object} props
 * @param {string} [props.text] what was pasted already
 * @param {() => void} props.onMade is told when there are new links
 * @param {() => void} props.onClose
 */
export function NewLinks({ text = '', onMade, onClose }) {
  const known = useTagNames();
  const keys = useRef(/** @type {Map<string, string>} */ (new Map()));
  const [made, setMade] = useState(/** @type {Made[]} */ ([]));
  const [refused, setRefused] = useState(/** @type {Map<string, string>} */ (new Map()));
  const [progress, setProgress] = useState(/** @type {import('../bulk/bulk.js').Progress | null} */ (null));
  const [isChecked, setChecked] = useState(false);
  const [summary, setSummary] = useState('');
  const [isWriting, setWriting] = useState(true);
  const { part, focusLater } = useLaterFocus();
  const form = useForm({ text, tags: /** @type {string[]} */ ([]) }, send, { check });
  const { values, set, isBusy } = form;

  const { lines, wrong } = linesOf(values.text);
  const isUnsent = useRef(false);
  isUnsent.current = lines.length > 0;
  useEffect(() => guardChanges(() => isUnsent.current), []);
  const mistakes = [...(isChecked ? wrong : []), ...lines.flatMap((line) => refusalsOf(line, refused))].sort((a, b) => a.number - b.number);

  /** @param {Values} written */
  function check(written) {
    setChecked(true);
    const found = linesOf(written.text);
    if (found.lines.length === 0) return { text: 'Paste at least one URL.' };
    return { text: found.wrong.length > 0 ? `${counted(found.wrong.length, 'line')} can’t be used.` : undefined };
  }

  /** @param {Values} written */
  async function send(written) {
    setSummary('');
    const sent = linesOf(written.text).lines;
    const bytesOf = (/** @type {Line} */ line) => new TextEncoder().encode(JSON.stringify(newLink(line, written.tags))).length;
    const outcomes = await sendAll(sent, (some) => create(some, written.tags), { tell: setProgress, bytesOf });
    setProgress(null);
    const done = outcomes.flatMap(({ thing, link }) => (link ? [{ url: thing.url, link }] : []));
    const failed = outcomes.filter(({ error }) => error);
    setMade((before) => [...before, ...done]);
    setRefused(new Map(failed.map(({ thing, error, isSent }) => [thing.text, isSent ? (error?.message ?? '') : ''])));
    set('text', failed.map(({ thing }) => thing.text).join('\n'));
    setWriting(failed.length > 0);
    if (done.length > 0) {
      rememberTags(written.tags);
      for (const { link } of done) noteMade(link, { archived: false, status: 'active', total_clicks: 0, ...link, tags: written.tags });
      forgetNumbers();
      onMade();
    }
    const unsent = failed.find(({ isSent }) => !isSent);
    if (done.length > 0 || !unsent) setSummary(summaryOf(done, failed.length));
    if (unsent) throw unsent.error;
    focusLater(failed.length > 0 ? '.form-summary' : '.made-links button');
  }

  /** @param {Line[]} some @param {string[]} tags */
  async function create(some, tags) {
    const body = JSON.stringify({ links: some.map((line) => newLink(line, tags)) });
    // As long as there is no answer, a repeated attempt is the same one.
    const key = keys.current.get(body) ?? newId();
    keys.current.set(body, key);
    const answer = await call('POST /api/links/bulk', { body, idempotencyKey: key });
    keys.current.delete(body);
    return answer;
  }

  async function close() {
    const count = counted(lines.length, 'link');
    const [title, text] = isBusy
      ? [`Close before ${count} ${lines.length === 1 ? 'is' : 'are'} created?`, 'You won’t see the results here.']
      : ['Discard changes?', `You haven’t created ${count} yet.`];
    const question = { title, text, action: isBusy ? 'Close' : 'Discard', dismiss: isBusy ? 'Wait' : 'Keep editing', isDanger: true };
    if (lines.length === 0 || (await ask(question))) onClose();
  }

  function writeMore() {
    setSummary('');
    setChecked(false);
    setWriting(true);
    focusLater('textarea');
  }

  const action = refused.size > 0 ? `Try ${lines.length === 1 ? 'this one' : `these ${number(lines.length)}`} again` : `Create ${lines.length > 0 ? counted(lines.length, 'link') : 'links'}`;
  const footer = isWriting
    ? html`<${Button} onClick=${close}>${made.length > 0 ? 'Done' : 'Cancel'}<//>
        <${Button} kind="primary" type="submit" isBusy=${isBusy} title="Ctrl or ⌘ + Enter">${action}<//>`
    : html`<${Button} icon="plus" onClick=${writeMore}>Create more<//> <${Button} kind="primary" onClick=${close}>Done<//>`;
  return html`<${Dialog} kind="drawer" isWide title="Bulk create" onClose=${close} onSubmit=${isWriting ? form.submit : ignore} footer=${footer}>
    <div class="stack" ref=${part}>
      <p class=${summary || progress ? '' : 'hidden'} role="status">${progress ? html`<${ProgressText} progress=${progress} />` : html`<strong>${summary}</strong>`}</p>
      <${FormFailure} error=${form.failure} />
      ${isWriting &&
      html`<${Mistakes} list=${mistakes} text=${values.text} part=${part} />
        <${Field}
          label=${refused.size > 0 ? 'Not created yet' : 'One URL per line'}
          as="textarea"
          class="code-input line-input"
          autofocus
          rows=${Math.min(Math.max(lines.length + 1, made.length > 0 ? 3 : 8), MOST_ROWS)}
          spellcheck=${false}
          autocapitalize="none"
          readonly=${isBusy}
          onBlur=${(/** @type {any} */ event) => (event.target.scrollLeft = 0)}
          placeholder=${EXAMPLE}
          hint=${`Up to ${number(MOST_LINKS)}. To set a custom code, add it after a tab or two spaces, or paste two columns of a spreadsheet.`}
          ...${form.field('text')}
        />
        <${TagInput} label="Tags for all links" isOptional hint="Press Enter or comma to add a tag." value=${values.tags} onChange=${(/** @type {string[]} */ tags) => set('tags', tags)} known=${known} />`}
      ${made.length > 0 && html`<${MadeLinks} list=${made} />`}
    </div>
  <//>`;
}

const EXAMPLE = 'https://example.com/spring\nhttps://example.com/summer\tsummer-sale';

const ignore = (/** @type {Event} */ event) => event.preventDefault();

/** @param {Line} line @param {string[]} tags */
const newLink = ({ url, code, text }, tags) => ({ url, custom_code: code || undefined, tags: tags.length > 0 ? tags : undefined });

/** @param {Line} line @param {Map<string, string>} refused @returns {WrongLine[]} */
function refusalsOf({ number, text }, refused) {
  const why = refused.get(text);
  return why ? [{ number, text, why }] : [];
}

/** @param {Made[]} done @param {number} failed */
function summaryOf(done, failed) {
  const reused = done.filter(({ link }) => link.reused).length;
  const fresh = done.length - reused;
  const parts = [fresh > 0 && `${counted(fresh, 'link')} created`, reused > 0 && `${number(reused)} you already have`, failed > 0 && `${number(failed)} failed`];
  return `${parts.filter(Boolean).join(', ')}.`;
}

/** What is wrong, by line; each leads there. @param {{ list: WrongLine[], text: string, part: { current: HTMLElement | null } }} props */
function Mistakes({ list, text, part }) {
  if (list.length === 0) return null;
  const goTo = (/** @type {number} */ line) => {
    const field = part.current?.querySelector('textarea');
    const { from, to } = placeOf(text, line);
    field?.focus();
    field?.setSelectionRange(from, to);
  };
  const more = list.length - SHOWN_MISTAKES;
  return html`<div class="form-summary" tabindex="-1">
    <${Notice} tone="bad">
      <p><strong>${list.length === 1 ? 'Check this line' : `Check these ${number(list.length)} lines`}:</strong></p>
      <ul class="line-mistakes">
        ${list.slice(0, SHOWN_MISTAKES).map((line) => html`<li key=${line.number}><button type="button" class="text-button" onClick=${() => goTo(line.number)}>Line ${number(line.number)}</button> <span>${line.why} <bdi class="muted">${line.text}</bdi></span></li>`)}
        ${more > 0 && html`<li class="muted">and ${number(more)} more</li>`}
      </ul>
    <//>
  </div>`;
}
