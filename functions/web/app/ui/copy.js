import { html, useEffect, useState } from '../vendor/preact.js';
import { Button } from './button.js';
import { toast } from './toast.js';

const TICK_MS = 1_500;

/**
 * Puts a text into the clipboard.
 * @param {string} text
 * @returns {Promise<boolean>} whether it is there
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** As browsers do it on pages without https. @param {string} text */
function copyBySelection(text) {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden';
  const dialogs = document.querySelectorAll('dialog[open]');
  (dialogs[dialogs.length - 1] ?? document.body).append(area);
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  focused?.focus();
  return isDone;
}

/** Copies, and says whether it has just done so. @param {string} text */
export function useCopy(text) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), TICK_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    const isDone = await copyText(text);
    setCopied(isDone);
    toast(isDone ? 'Copied.' : 'Your browser doesn’t allow copying. Select the text instead.', { tone: isDone ? 'plain' : 'bad' });
  };
  return { isCopied, copy };
}

/** @param {{ text: string, label?: string, children?: unknown, kind?: string }} props */
export function CopyButton({ text, label = 'Copy', children, kind = 'quiet' }) {
  const { isCopied, copy } = useCopy(text);
  return html`<${Button} kind=${kind} icon=${isCopied ? 'tick' : 'copy'} label=${children ? undefined : label} onClick=${copy}>${children}<//>`;
}
