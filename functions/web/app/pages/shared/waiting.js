import { html } from '../../vendor/preact.js';
import { Skeleton } from '../../ui/states.js';

/** Grey shapes until there are numbers. */
export const WaitingNumbers = () => html`<${Skeleton} height=${96} /><${Skeleton} height=${340} /><div class="panels">${[1, 2, 3].map(() => html`<${Skeleton} height=${240} />`)}</div>`;
