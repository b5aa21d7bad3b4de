// Short messages at the foot of the page, with the way back when there is one.
import { html, useEffect, useState } from '../lib/html.js';
import { call } from '../lib/api.js';
import { vaultChanged } from '../lib/use.js';

const SHOWN_MS = 12000;
const listeners = new Set();
let number = 0;

/** Say something; `operations` are ids that an Undo button takes back, newest first. */
export function say(text, { operations = [], bad = false } = {}) {
  const toast = { id: ++number, text, operations: operations.filter(Boolean), bad };
  for (const listener of listeners) listener(toast);
}

export const complain = (error) => say(error.body?.hint ? `${error.message} (${error.body.hint})` : error.message, { bad: true });

async function takeBack(operations) {
  const results = [];
  for (const operation of operations) results.push(await call('undo', { operation }));
  vaultChanged();
  const conflicts = results.flatMap((result) => result.conflicts);
  say(conflicts.length ? `Undone, except what was changed since: ${conflicts.map((one) => one.path).join(', ')}` : 'Undone.');
}

export function Toasts() {
  const [shown, setShown] = useState([]);
  const drop = (id) => setShown((all) => all.filter((toast) => toast.id !== id));
  useEffect(() => {
    const hear = (toast) => {
      setShown((all) => [...all.slice(-2), toast]);
      setTimeout(() => drop(toast.id), SHOWN_MS);
    };
    listeners.add(hear);
    return () => listeners.delete(hear);
  }, []);
  return html`<div class="toasts" role="status" aria-live="polite">${shown.map((toast) => html`
    <div key=${toast.id} class=${toast.bad ? 'toast bad fades' : 'toast fades'}>
      <span class="grow">${toast.text}</span>
      ${toast.operations.length > 0 && html`<button class="small" onClick=${() => {
        drop(toast.id);
        takeBack(toast.operations).catch(complain);
      }}>Undo</button>`}
      <button class="small plain" aria-label="Close" onClick=${() => drop(toast.id)}>✕</button>
    </div>`)}</div>`;
}
