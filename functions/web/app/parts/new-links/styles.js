// The styles of this part, which come with it: the first view has no room for them.

const STYLES = `
.field .line-input { white-space: pre; overflow-x: auto; tab-size: 4; }
.text-button { min-height: 24px; padding: 0; border: 0; background: none; color: inherit; font-weight: 500; text-decoration: underline; text-underline-offset: 2px; cursor: pointer; }
.drawer:has(.sheet) { width: min(1120px, 100%); }
.sheet { max-height: 60dvh; border: 1px solid var(--line); }
.sheet thead { position: sticky; top: 0; z-index: 1; background: var(--surface); }
.sheet :is(th, td) { padding: 4px; vertical-align: top; }
.sheet tbody tr > :not([data-label]) { width: 1px; padding-top: 8px; }
.sheet .input { min-width: 8rem; }
.sheet .is-url { min-width: 16rem; }
.sheet [aria-invalid] { border-color: var(--bad); }
@media (max-width: 767px) {
  .sheet :is(table, thead, tbody) { position: static; display: block; }
  .sheet tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; padding: 8px; border-bottom: 1px solid var(--line); }
  .sheet thead tr { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .sheet thead :is(th, td):not(:has(select)) { display: none; }
  .sheet :is(th, td) { border: 0; }
  .sheet .input.input { min-width: 0; }
  .sheet tbody tr > :not([data-label]) { width: auto; }
  .sheet [data-label] { grid-column: 1 / -1; }
  .sheet [data-label]::before { content: attr(data-label); color: var(--muted); font-size: 0.75rem; }
}
.made-links { display: grid; gap: 8px; }
.made-links h3 { flex: 1 1 auto; }
.made-links li { display: flex; align-items: center; gap: 8px; padding: 6px 8px 6px 12px; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.made-link { flex: 1; min-width: 0; }
.made-short { font-weight: 500; }
`;

let areThere = false;

export function applyStyles() {
  if (areThere) return;
  areThere = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLES);
  document.adoptedStyleSheets.push(sheet);
}
