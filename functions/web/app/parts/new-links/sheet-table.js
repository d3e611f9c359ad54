// The rows as a table in which everything can be corrected. Only some rows are drawn at a time, so that a thousand stay quick.

import { html } from '../../vendor/preact.js';
import { counted, number } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { doublesOf, FIELDS, labelOf, withCell, withField } from './sheet.js';

/** @typedef {import('./sheet.js').Sheet} Sheet */
/** @typedef {import('./sheet.js').SheetRow} SheetRow */
/** @typedef {import('./sheet.js').FieldName} FieldName */
/** @typedef {import('./sheet.js').RowErrors} RowErrors */

export const ROWS_SHOWN = 50;

/** A cell that can be found again. @param {number} id @param {number} index */
const cellId = (id, index) => `cell-${id}-${index}`;

/** Where an error stands: at its column, or else at the URL, or at the first one. @param {Sheet} sheet @param {number} id @param {string} field */
export function placeOfError({ columns }, id, field) {
  const [own, url] = [field, 'url'].map((name) => columns.findIndex((column) => column.field === name));
  return `#${cellId(id, own >= 0 ? own : Math.max(url, 0))}`;
}

/**
 * @param {object} props
 * @param {Sheet} props.sheet
 * @param {(sheet: Sheet) => void} props.onChange
 * @param {Map<number, RowErrors>} props.errors by the row’s id
 * @param {number} props.from the first row that is shown, counted from 0
 * @param {(from: number) => void} props.onFrom
 * @param {(id: number) => void} props.onRemove
 * @param {boolean} props.isBusy
 */
export function SheetTable({ sheet, onChange, errors, from, onFrom, onRemove, isBusy }) {
  const { columns, rows } = sheet;
  const shown = rows.slice(from, from + ROWS_SHOWN);
  // Columns that nobody has filled in or named are left out.
  const used = columns.map((_, index) => index).filter((index) => columns[index].field === 'url' || columns[index].head || rows.some(({ cells }) => cells[index]));
  return html`<div class="stack tight">
    <div class="table-box sheet" role="region" aria-label="Links to create" tabindex="0">
      <table class="table">
        <caption class="hidden">Links to create</caption>
        <thead>
          <tr>
            <th scope="col"><span class="hidden">Row</span></th>
            <td></td>
            ${used.map((index) => html`<th scope="col" key=${index}><${ColumnSelect} sheet=${sheet} index=${index} onChange=${onChange} isBusy=${isBusy} /></th>`)}
          </tr>
        </thead>
        <tbody>
          ${shown.map((row) => html`<${RowView} key=${row.id} row=${row} sheet=${sheet} used=${used} errors=${errors.get(row.id)} onChange=${onChange} onRemove=${onRemove} isBusy=${isBusy} />`)}
        </tbody>
      </table>
    </div>
    ${rows.length > ROWS_SHOWN && html`<${Steps} from=${from} count=${rows.length} onFrom=${onFrom} />`}
  </div>`;
}

/** @param {{ sheet: Sheet, index: number, onChange: (sheet: Sheet) => void, isBusy: boolean }} props */
function ColumnSelect({ sheet, index, onChange, isBusy }) {
  const { head, field } = sheet.columns[index];
  const isTwice = doublesOf(sheet).has(field);
  const name = `Column ${number(index + 1)}${head ? `, ${head}` : ''}`;
  return html`<select class="input" aria-label=${name} title=${head || name} aria-invalid=${isTwice ? 'true' : undefined} value=${field} disabled=${isBusy} onChange=${(/** @type {any} */ event) => onChange(withField(sheet, index, event.target.value))}>
    <option value="">${head ? `Not used: ${head}` : 'Not used'}</option>
    ${FIELDS.map(({ name: value, label }) => html`<option key=${value} value=${value}>${label}</option>`)}
  </select>`;
}

/**
 * @param {{ row: SheetRow, sheet: Sheet, used: number[], errors: RowErrors | undefined, onChange: (sheet: Sheet) => void, onRemove: (id: number) => void, isBusy: boolean }} props
 */
function RowView({ row, sheet, used, errors = {}, onChange, onRemove, isBusy }) {
  const { id, cells } = row;
  const places = Object.entries(errors).map(([field, why]) => ({ at: placeOfError(sheet, id, field).slice(1), why }));
  return html`<tr>
    <th scope="row" class="muted">${number(id)}</th>
    <td><${Button} kind="quiet" class="compact" icon="close" label=${`Remove row ${number(id)}`} disabled=${isBusy} onClick=${() => onRemove(id)} /></td>
    ${used.map((index) => {
      const name = cellId(id, index);
      const whys = places.filter(({ at }) => at === name).map(({ why }) => why);
      const { field, head } = sheet.columns[index];
      const label = labelOf(field) || head || `Column ${number(index + 1)}`;
      return html`<td key=${index} data-label=${label}>
        <input
          id=${name}
          class=${`input ${field === 'url' ? 'is-url' : ''}`}
          aria-label=${`${label}, row ${number(id)}`}
          aria-invalid=${whys.length > 0 ? 'true' : undefined}
          aria-describedby=${whys.length > 0 ? `${name}-error` : undefined}
          autocomplete="off"
          autocapitalize="none"
          spellcheck=${false}
          dir="auto"
          readonly=${isBusy}
          value=${cells[index]}
          onInput=${(/** @type {any} */ event) => onChange(withCell(sheet, id, index, event.target.value))}
          onKeyDown=${moveInColumn}
        />
        ${whys.length > 0 && html`<p class="field-error" id=${`${name}-error`}>${whys.join(' ')}</p>`}
      </td>`;
    })}
  </tr>`;
}

/** Enter and the arrows lead to the same column of another row, as in a spreadsheet. @param {KeyboardEvent} event */
function moveInColumn(event) {
  const steps = { Enter: event.shiftKey ? -1 : 1, ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!steps || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  event.preventDefault();
  const cell = /** @type {HTMLElement} */ (event.target).closest('td');
  const row = cell?.parentElement;
  const other = steps > 0 ? row?.nextElementSibling : row?.previousElementSibling;
  const index = [...(row?.children ?? [])].indexOf(/** @type {Element} */ (cell));
  /** @type {HTMLInputElement | null | undefined} */ (other?.children[index]?.querySelector('input'))?.focus();
}

/** @param {{ from: number, count: number, onFrom: (from: number) => void }} props */
function Steps({ from, count, onFrom }) {
  const to = Math.min(from + ROWS_SHOWN, count);
  return html`<p class="row">
    <${Button} class="compact" disabled=${from === 0} onClick=${() => onFrom(Math.max(0, from - ROWS_SHOWN))}>Previous rows<//>
    <${Button} class="compact" disabled=${to === count} onClick=${() => onFrom(from + ROWS_SHOWN)}>Next rows<//>
    <span class="muted small" role="status">${number(from + 1)}–${number(to)} of ${counted(count, 'row')}</span>
  </p>`;
}
