// The countries on a map, the darker, the more clicks they have. It is a list of options: arrow keys go from one to the next, the
// most frequent first, and Enter takes it, as a press does.

import { html, useState } from '../../vendor/preact.js';
import { counted, number, percent } from '../../core/format.js';
import { useId } from '../../ui/field.js';
import { PLACES, SHAPES, WORLD } from './shapes.js';

/** @typedef {{ value: string, name: string, count: number, isChosen: boolean }} Row */

const STEPS = 5;
const SPOT = 14;
const NONE = -1;

/** @param {{ rows: Row[], total: number, choose?: (value: string) => void }} props without `choose`, none can be taken */
export function WorldMap({ rows, total, choose }) {
  const id = useId('map');
  const [active, setActive] = useState(NONE);
  const shown = rows.filter(({ value, count }) => count > 0 && (SHAPES[value] || PLACES[value]));
  const counts = new Set(shown.map(({ value }) => value));
  const elsewhere = rows.filter(({ value }) => !counts.has(value)).reduce((sum, { count }) => sum + count, 0);
  const current = shown[active];

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const to = { ArrowDown: active + 1, ArrowRight: active + 1, ArrowUp: active - 1, ArrowLeft: active - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to !== undefined) setActive(Math.max(0, Math.min(shown.length - 1, to)));
    else if ((event.key === 'Enter' || event.key === ' ') && current) choose?.(current.value);
    else return;
    event.preventDefault();
  }

  const others = html`<g aria-hidden="true">${Object.entries(SHAPES).map(([code, shape]) => !counts.has(code) && html`<path key=${code} d=${shape} />`)}</g>`;
  const size = `0 0 ${WORLD.width} ${WORLD.height}`;
  if (shown.length === 0) {
    return html`<div class="world">
      <svg class="world-map" viewBox=${size} role="img" aria-label="Map without clicks">${others}</svg>
      <p class="world-tip small-print">The countries of these clicks are unknown.</p>
    </div>`;
  }
  return html`<div class="world">
    <svg
      class="world-map"
      viewBox=${size}
      role="listbox"
      aria-label="Countries"
      aria-multiselectable=${choose ? 'true' : undefined}
      aria-activedescendant=${current ? `${id}-${current.value}` : undefined}
      tabindex="0"
      onKeyDown=${onKeyDown}
      onFocus=${() => active === NONE && setActive(0)}
      onPointerLeave=${() => setActive(NONE)}
      onBlur=${() => setActive(NONE)}
    >
      ${others}
      ${shown.map((row, at) => html`<${Country} key=${row.value} id=${`${id}-${row.value}`} row=${row} total=${total} most=${shown[0].count} isActive=${at === active} point=${() => setActive(at)} choose=${choose} />`)}
    </svg>
    <p class="world-tip small-print">
      ${current ? html`<strong>${current.name}</strong> ${counted(current.count, 'click')}, ${percent(current.count / total)}` : elsewhere > 0 ? `${number(elsewhere)} from other or unknown countries.` : `${counted(shown.length, 'country', 'countries')}.`}
    </p>
  </div>`;
}

/** @param {{ id: string, row: Row, total: number, most: number, isActive: boolean, point: () => void, choose?: (value: string) => void }} props */
function Country({ id, row, total, most, isActive, point, choose }) {
  const { value, name, count, isChosen } = row;
  const shade = Math.max(1, Math.ceil(STEPS * Math.sqrt(count / most)));
  const common = {
    id,
    role: 'option',
    // Where none can be taken, the one that is shown is the selected one.
    'aria-selected': choose ? isChosen : isActive,
    'aria-label': `${name}, ${counted(count, 'click')}, ${percent(count / total)}`,
    class: `world-${shade} ${choose ? 'pressable' : ''} ${isActive ? 'active' : ''} ${isChosen ? 'chosen' : ''}`,
    onPointerEnter: point,
    onClick: () => choose?.(value),
  };
  return SHAPES[value] ? html`<path ...${common} d=${SHAPES[value]} />` : html`<circle ...${common} cx=${PLACES[value][0]} cy=${PLACES[value][1]} r=${SPOT} />`;
}
