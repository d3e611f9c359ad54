// What lies over the page: a dialog in its middle, or a drawer at its edge. Both are <dialog>s, so the browser keeps the focus
// within, and what is behind can't be used.

import { html, useLayoutEffect, useRef, useState } from '../vendor/preact.js';
import { createStore, useStore } from '../core/store.js';
import { Button } from './button.js';
import { Field, useId } from './field.js';
import { moveToasts, Toasts } from './toast.js';

/**
 * @param {object} props
 * @param {unknown} props.title
 * @param {unknown} [props.instead] what is shown in place of its title
 * @param {() => void} props.onClose is asked to close it, by Esc, a click beside it, or its cross
 * @param {unknown} props.children
 * @param {unknown} [props.footer] its buttons
 * @param {'dialog' | 'drawer' | 'palette'} [props.kind]
 * @param {boolean} [props.isWide]
 * @param {boolean} [props.mustAnswer] whether only its buttons close it
 * @param {(event: Event) => void} [props.onSubmit] makes its content a form
 */
export function Dialog({ title, instead, onClose, children, footer, kind = 'dialog', isWide = false, mustAnswer = false, onSubmit }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId('dialog');

  useLayoutEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    const dialog = /** @type {HTMLDialogElement} */ (element.current);
    keepWidth();
    dialog.showModal();
    moveToasts();
    return () => {
      dialog.close();
      moveToasts();
      if (before?.isConnected) before.focus();
    };
  }, []);

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && onSubmit) onSubmit(event);
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    if (!mustAnswer) onClose();
  }

  /** @param {MouseEvent} event */
  function onBackdrop(event) {
    if (event.target === element.current && !mustAnswer) onClose();
  }

  /** What closes dialogs without a key, such as a phone's gesture. @param {Event} event */
  function onCancel(event) {
    event.preventDefault();
    if (!mustAnswer) onClose();
  }

  useBack(kind === 'drawer', onClose);

  const inner = html`<div class="dialog-head">
      <h2 id=${id} tabindex="-1" class=${instead ? 'hidden' : ''}>${title}</h2>
      ${instead}
      ${!mustAnswer && html`<${Button} kind="quiet" icon="close" label="Close" onClick=${onClose} />`}
    </div>
    <div class="dialog-body">${children}</div>
    ${footer && html`<div class="dialog-foot">${footer}</div>`}`;
  return html`<dialog
    ref=${element}
    class=${`${kind} ${isWide ? 'wide' : ''}`}
    aria-labelledby=${id}
    closedby=${mustAnswer ? 'none' : undefined}
    onKeyDown=${onKeyDown}
    onMouseDown=${onBackdrop}
    onCancel=${onCancel}
  >
    ${onSubmit
      ? html`<form class="dialog-inner" novalidate onSubmit=${onSubmit}>${inner}</form>`
      : html`<div class="dialog-inner">${inner}</div>`}
    <${Toasts} />
  </dialog>`;
}

/** How wide the bar is with which the page scrolls: it goes while a dialog is open. */
function keepWidth() {
  if (document.querySelector('dialog:modal')) return;
  const { documentElement: root } = document;
  root.style.setProperty('--bar', `${innerWidth - root.getBoundingClientRect().width}px`);
}

/**
 * "Back" closes a drawer, which is a page of its own on a phone.
 * @param {boolean} isBound
 * @param {() => void} onBack is asked to close it
 */
function useBack(isBound, onBack) {
  const latest = useRef(onBack);
  latest.current = onBack;
  useLayoutEffect(() => {
    if (!isBound) return undefined;
    const mark = () => history.pushState({ ...history.state, isDrawer: true }, '');
    const onPop = () => {
      // It may stay open, since it asks before changes are lost.
      mark();
      latest.current();
    };
    mark();
    addEventListener('popstate', onPop);
    return () => {
      removeEventListener('popstate', onPop);
      if (history.state?.isDrawer) history.back();
    };
  }, []);
}

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {unknown} [text] what happens, in numbers
 * @property {string} action what the button says that does it
 * @property {string} [dismiss] what the other one says
 * @property {boolean} [isDanger]
 * @property {string} [typed] what has to be typed first
 */

const questions = createStore({ open: /** @type {(Question & { answer: (yes: boolean) => void })[]} */ ([]) });

/**
 * Asks before something is done.
 * @param {Question} question
 * @returns {Promise<boolean>}
 */
export function ask(question) {
  return new Promise((resolve) => {
    const entry = {
      ...question,
      answer(/** @type {boolean} */ yes) {
        questions.set({ open: questions.get().open.filter((other) => other !== entry) });
        resolve(yes);
      },
    };
    questions.set({ open: [...questions.get().open, entry] });
  });
}

/** Where `ask` shows its questions; part of the frame. */
export function Questions() {
  const { open } = useStore(questions);
  return html`${open.map((question) => html`<${AskDialog} question=${question} />`)}`;
}

/** @param {{ question: Question & { answer: (yes: boolean) => void } }} props */
function AskDialog({ question }) {
  const { title, text, action, dismiss = 'Cancel', isDanger = false, typed, answer } = question;
  const [text2, setText] = useState('');
  const isReady = !typed || text2.trim() === typed;
  const footer = html`<${Button} onClick=${() => answer(false)}>${dismiss}<//>
    <${Button} kind=${isDanger ? 'danger' : 'primary'} type="submit" disabled=${!isReady}>${action}<//>`;
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isReady) answer(true);
  };
  return html`<${Dialog} title=${title} footer=${footer} onClose=${() => answer(false)} onSubmit=${submit}>
    ${text && html`<p>${text}</p>`}
    ${typed &&
    html`<${Field}
      label=${html`Type <code>${typed}</code> to confirm`}
      autocomplete="off"
      autofocus
      value=${text2}
      onInput=${(/** @type {any} */ event) => setText(event.target.value)}
    />`}
  <//>`;
}
