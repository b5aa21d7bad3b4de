// A modal dialog, and the plan that comes before everything destructive.
import { html, useEffect, useRef, useState } from '../lib/html.js';
import { complain } from './toast.js';

export function Dialog({ title, close, children, wide = false }) {
  const box = useRef();
  useEffect(() => {
    box.current.showModal();
  }, []);
  return html`<dialog ref=${box} class=${wide ? 'wide' : ''} aria-label=${title} onClose=${close}
    onClick=${(event) => event.target === box.current && box.current.close()}>
    <div class="dialog-body stack"><h2>${title}</h2>${children}</div>
  </dialog>`;
}

/** What would happen, and the button that does it. `carry` returns a promise; the dialog closes when it is kept. */
export function Plan({ title, lines, note, verb, carry, close, danger = true, ready = true, children }) {
  const [running, setRunning] = useState(false);
  const run = async (event) => {
    event.preventDefault();
    setRunning(true);
    try {
      await carry();
      close();
    } catch (error) {
      complain(error);
      setRunning(false);
    }
  };
  return html`<${Dialog} title=${title} close=${close}>
    <form class="stack" onSubmit=${run}>
      ${lines && html`<ul class="plan">${lines.slice(0, 12).map((line) => html`<li>${line}</li>`)}
        ${lines.length > 12 && html`<li>and ${lines.length - 12} more</li>`}</ul>`}
      ${note && html`<p class="quiet">${note}</p>`}
      ${children}
      <div class="row"><button class=${danger ? 'danger main' : 'main'} disabled=${running || !ready}>${verb}</button>
        <button type="button" onClick=${close}>Cancel</button></div>
    </form>
  </${Dialog}>`;
}
