// What can be done to many memories at once; the plan first, one Undo for all.
import { html, useState } from '../lib/html.js';
import { plural } from '../lib/format.js';
import { writeAll } from '../lib/write.js';
import { Plan } from '../ui/dialog.js';

const KINDS = {
  archive: { title: 'Archive', note: 'They leave search and packs, stay on disk, and can be restored.', done: 'archived', danger: true,
    step: (one) => ['forget', { ref: one.ref, if_revision: one.revision }, one.ref] },
  restore: { title: 'Restore', note: 'They become active again.', done: 'restored',
    step: (one) => ['restore', { ref: one.ref }, one.ref] },
  tag: { title: 'Add a tag', label: 'Tag', done: 'tagged',
    step: (one, value) => ['update', { ref: one.ref, tags: [...new Set([...one.tags, value])] }, one.ref] },
  verify: { title: 'Mark as confirmed', note: 'Confirmed memories rank higher and fade more slowly.', done: 'confirmed',
    step: (one) => ['verify', { ref: one.ref, verification: 'confirmed' }, one.ref] },
  move: { title: 'Move to a project', label: 'Project (global for none)', done: 'moved',
    step: (one, value) => ['update', { ref: one.ref, project: value }, one.ref] },
};

export function Bulk({ memories, clear, readonly }) {
  const [kind, setKind] = useState(null);
  const [value, setValue] = useState('');
  const plan = KINDS[kind];
  const carry = async () => {
    await writeAll(memories.map((one) => plan.step(one, value.trim())), (n) => `${plural(n, 'memory', 'memories')} ${plan.done}.`);
    clear();
  };
  return html`<div class="bulk fades" role="region" aria-label="Selected memories">
    <b>${memories.length} selected</b>
    ${Object.entries(KINDS).map(([name, { title }]) => html`<button key=${name} class="small" disabled=${readonly}
      onClick=${() => setKind(name)}>${title}</button>`)}
    <button class="small plain" onClick=${clear}>Clear</button>
    ${plan && html`<${Plan} title=${`${plan.title}: ${plural(memories.length, 'memory', 'memories')}`} verb=${plan.title}
      lines=${memories.map((one) => one.title)} note=${plan.note} danger=${Boolean(plan.danger)} carry=${carry}
      ready=${!plan.label || value.trim() !== ''} close=${() => setKind(null)}>
      ${plan.label && html`<label class="field"><span>${plan.label}</span>
        <input value=${value} onInput=${(event) => setValue(event.target.value)} required/></label>`}</${Plan}>`}
  </div>`;
}
