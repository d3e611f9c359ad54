import { html } from '../../vendor/preact.js';

/**
 * @template T
 * @typedef {object} Column
 * @property {string} label
 * @property {(row: T) => unknown} cell
 * @property {boolean} [isNumber] stands at the right
 * @property {boolean} [isHidden] whether its label is for screen readers only
 * @property {boolean} [isHeader] whether it names the row
 * @property {boolean} [isMinor] is left out on a phone
 */

/**
 * @template T
 * @param {object} props
 * @param {string} props.label
 * @param {Column<T>[]} props.columns
 * @param {T[]} props.rows
 * @param {(row: T) => string} props.keyOf
 * @param {(row: T) => string} [props.classOf]
 * @param {boolean} [props.isStacked] whether the cells of a row stand below each other on a phone, and only numbers beside the first
 */
export function Table({ label, columns, rows, keyOf, classOf = () => '', isStacked = false }) {
  const classes = (/** @type {Column<T>} */ column) => `${column.isNumber ? 'number' : ''} ${column.isMinor ? 'minor' : ''}`;
  return html`<div class="table-box" role="region" aria-label=${label} tabindex="0">
    <table class=${`table ${isStacked ? 'stacked' : ''}`}>
      <caption class="hidden">${label}</caption>
      <thead>
        <tr>
          ${columns.map(
            (column) => html`<th scope="col" class=${classes(column)}><span class=${column.isHidden ? 'hidden' : ''}>${column.label}</span></th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`<tr key=${keyOf(row)} class=${classOf(row)}>
            ${columns.map((column) =>
              column.isHeader
                ? html`<th scope="row" class=${classes(column)}>${column.cell(row)}</th>`
                : html`<td class=${classes(column)}>${column.cell(row)}</td>`,
            )}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
