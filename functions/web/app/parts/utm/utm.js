// The fields of a campaign, with templates and with what was used before.

import { html, useState } from '../../vendor/preact.js';
import { mayAct } from '../../core/session.js';
import { Field, useId } from '../../ui/field.js';
import { Icon } from '../../ui/icons.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { Menu } from '../../ui/menu.js';
import { toast } from '../../ui/toast.js';
import { PARAMETERS } from './campaign.js';
import { knownValues } from './known.js';
import { useTemplates } from './templates.js';

export { campaignIn, hasCampaign, PARAMETERS, valueIn, withCampaign, withParameter } from './campaign.js';
export { knownValues, MOST_VALUES, rememberCampaigns } from './known.js';
export { MEMBER, templatesIn, useTemplates, campaignOf } from './templates.js';

/** @typedef {import('./campaign.js').CampaignValues} CampaignValues */
/** @typedef {import('./campaign.js').Parameter} Parameter */
/** @typedef {import('./templates.js').Template} Template */

/**
 * The fields, which a template fills in.
 * @param {object} props
 * @param {CampaignValues} props.values
 * @param {(values: CampaignValues) => void} props.onChange is given those that are to change
 * @param {boolean} [props.isOff] whether nothing can be entered yet
 */
export function CampaignFields({ values, onChange, isOff = false }) {
  const { part, focusLater } = useLaterFocus();
  const [, redraw] = useState(0);
  const apply = (/** @type {Template} */ { name, ...given }) => {
    const open = PARAMETERS.find((parameter) => !given[parameter.name] && !values[parameter.name]);
    onChange(given);
    if (open) focusLater(`[name=${open.name}]`);
    redraw((count) => count + 1);
    toast(`Filled in from “${name}”.`);
  };
  return html`<div class="stack" ref=${part}>
    <${TemplateMenu} isOff=${isOff} onChoose=${apply} />
    <${CampaignInputs} values=${values} onChange=${onChange} isOff=${isOff} isPaired />
  </div>`;
}

/** The fields alone. @param {{ values: CampaignValues, onChange: (values: CampaignValues) => void, isOff?: boolean, isPaired?: boolean }} props `isPaired` says whether the rare ones stand side by side */
export function CampaignInputs({ values, onChange, isOff = false, isPaired = false }) {
  const [known] = useState(knownValues);
  const field = (/** @type {typeof PARAMETERS[0]} */ parameter) =>
    html`<${CampaignField} key=${parameter.name} ...${parameter} value=${values[parameter.name] ?? ''} known=${known[parameter.name] ?? []} isOff=${isOff} onChange=${onChange} />`;
  if (!isPaired) return html`${PARAMETERS.map(field)}`;
  return html`${PARAMETERS.filter(({ isFirst }) => isFirst).map(field)}
    <div class="pair">${PARAMETERS.filter(({ isFirst }) => !isFirst).map(field)}</div>`;
}

/** @param {{ name: Parameter, label: string, hint: string, value: string, known: string[], isOff: boolean, onChange: (values: CampaignValues) => void }} props */
function CampaignField({ name, label, hint, value, known, isOff, onChange }) {
  const id = useId('known');
  return html`<${Field}
      name=${name}
      label=${label}
      hint=${hint}
      list=${known.length > 0 ? id : undefined}
      autocapitalize="none"
      autocomplete="off"
      spellcheck=${false}
      disabled=${isOff}
      value=${value}
      onInput=${(/** @type {any} */ event) => onChange({ [name]: event.target.value })}
    />
    ${known.length > 0 && html`<datalist id=${id}>${known.map((one) => html`<option key=${one} value=${one} />`)}</datalist>`}`;
}

/** @param {{ isOff: boolean, onChoose: (template: Template) => void }} props */
function TemplateMenu({ isOff, onChoose }) {
  const { data: templates } = useTemplates();
  if (isOff || !templates) return null;
  if (templates.length === 0) return mayAct('admin') && html`<p class="hint">To fill these in at once, add UTM templates in Settings.</p>`;
  const items = templates.map((template, index) => ({ key: `${index}`, label: template.name, act: () => onChoose(template) }));
  return html`<${Menu} class="button compact" align="start" items=${items}>Use a template<${Icon} name="down" /><//>`;
}
