// Editing a note: only what was changed is sent, with the revision it was changed from; a conflict is shown, not hidden.
import { html, useEffect, useRef, useState } from '../lib/html.js';
import { call } from '../lib/api.js';
import { words } from '../lib/format.js';
import { useCall, useKeys } from '../lib/use.js';
import { write } from '../lib/write.js';
import { Lines } from '../ui/lines.js';
import { Plan } from '../ui/dialog.js';
import { complain } from '../ui/toast.js';
import { Note } from './record.js';

const TEXTS = ['title', 'content', 'memory_type', 'verification', 'project', 'domain'];

const fieldsOf = (memory) => ({
  ...Object.fromEntries(TEXTS.map((name) => [name, memory[name] ?? ''])),
  tags: memory.tags.join(', '), importance: memory.importance, pinned: memory.pinned,
});

function changed(base, draft) {
  const before = fieldsOf(base);
  const named = Object.keys(draft).filter((name) => draft[name] !== before[name]);
  return Object.fromEntries(named.map((name) => [name, value(name, draft[name])]));
}

function value(name, text) {
  if (name === 'tags') return [...new Set(text.split(',').map((tag) => tag.trim().replace(/^#/, '')).filter(Boolean))];
  if (name === 'importance') return Number(text);
  if (name === 'project' || name === 'domain') return text.trim() || null;
  return text;
}

export function Edit({ base: opened, latest, close }) {
  const [base, setBase] = useState(opened);
  const [draft, setDraft] = useState(() => fieldsOf(opened));
  const [preview, setPreview] = useState(false);
  const [conflict, setConflict] = useState(null);
  const [leaving, setLeaving] = useState(false);
  const set = (name) => (event) => setDraft((old) => ({ ...old, [name]: event.target.type === 'checkbox' ? event.target.checked : event.target.value }));
  const changes = changed(base, draft);
  const dirty = Object.keys(changes).length > 0;
  const save = async (revision) => {
    if (!dirty) { close(); return; }
    try {
      await write('update', { ref: base.ref, ...changes, if_revision: revision }, base.ref, 'Saved.');
      close();
    } catch (error) {
      if (error.code !== 'revision_conflict') { complain(error); return; }
      const now = await call('get', { refs: [base.ref], touch: false, deleted: true });
      setConflict(now.memories[0]);
    }
  };
  const leave = () => (dirty ? setLeaving(true) : close());
  useKeys((event) => {
    if (event.key === 'Escape' && !document.querySelector('dialog[open]')) { event.preventDefault(); leave(); }
  });
  if (conflict) {
    const take = (memory, mine) => { setBase(memory); setDraft(mine); setConflict(null); };
    return html`<${Conflict} theirs=${conflict} mine=${draft.content} base=${base.content}
      keepMine=${() => save(conflict.revision)} takeTheirs=${() => take(conflict, fieldsOf(conflict))}
      goOn=${(content) => take(conflict, { ...draft, content })}/>`;
  }
  return html`<form class="edit stack" onSubmit=${(event) => { event.preventDefault(); save(base.revision); }}>
    ${latest.revision !== base.revision && html`<p class="notice" role="status">The note was saved elsewhere meanwhile. Your save joins
      both if they touch other parts, and shows both otherwise.</p>`}
    <${Fields} draft=${draft} set=${set}/>
    <div class="row"><button type="button" class="small" aria-pressed=${preview} onClick=${() => setPreview(!preview)}>${preview ? 'Write' : 'Preview'}</button>
      <span class="quiet small">Markdown; [[title]] links to a note</span></div>
    ${preview ? html`<div class="preview"><${Note} content=${draft.content}/></div>`
      : html`<${Text} value=${draft.content} onInput=${set('content')} save=${() => save(base.revision)}/>`}
    <div class="row sticky-foot"><button class="main" disabled=${!dirty}>Save</button><button type="button" onClick=${leave}>Cancel</button>
      <span class="quiet small">${dirty ? `Changes ${Object.keys(changes).map(words).join(', ')}` : 'Nothing changed yet'}</span></div>
    ${leaving && html`<${Plan} title="Leave without saving?" lines=${Object.keys(changes).map(words)} verb="Discard my changes"
      close=${() => setLeaving(false)} carry=${async () => close()}/>`}
  </form>`;
}

function Text({ value: text, onInput, save }) {
  const area = useRef();
  useEffect(() => area.current.focus(), []);
  return html`<textarea ref=${area} class="mono" rows="18" aria-label="Text" spellcheck="false" value=${text} onInput=${onInput}
    onKeyDown=${(event) => (event.ctrlKey || event.metaKey) && event.key === 'Enter' && save()}></textarea>`;
}

function Fields({ draft, set }) {
  const { data } = useCall('stats');
  const known = (counts) => (data ? counts.map(([name]) => html`<option key=${name} value=${name}/>`) : []);
  const field = (name, label, more = {}) => html`<label class="field"><span>${label}</span><input value=${draft[name]} onInput=${set(name)} ...${more}/></label>`;
  return html`${field('title', 'Title', { required: true })}
    <div class="fields">
      ${field('memory_type', 'Type', { list: 'types' })}
      <label class="field"><span>Verification</span><select value=${draft.verification} onChange=${set('verification')}>
        ${['unverified', 'confirmed', 'contradicted'].map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select></label>
      ${field('tags', 'Tags, with commas')}
      ${field('importance', 'Importance', { type: 'number', min: 0, max: 1, step: 0.05 })}
      ${field('project', 'Project', { list: 'projects' })}
      ${field('domain', 'Domain', { list: 'domains' })}
    </div>
    <label class="row"><input type="checkbox" checked=${draft.pinned} onChange=${set('pinned')}/> Pinned: always in context packs</label>
    <datalist id="types">${known(data?.by_type)}</datalist><datalist id="projects">${known(data?.by_project)}</datalist>
    <datalist id="domains">${known(data?.by_domain)}</datalist>`;
}

function Conflict({ theirs, mine, keepMine, takeTheirs, goOn }) {
  return html`<section class="stack" aria-label="Conflict">
    <h2>The note changed while you wrote</h2>
    <p class="notice">Somebody saved it after you opened it, in the same place. Nothing is lost: the other version stays in the history
      whatever you choose.</p>
    <h3>From the saved text to yours</h3>
    <${Lines} before=${theirs.content} after=${mine}/>
    <div class="row"><button class="main" onClick=${keepMine}>Save mine over it</button>
      <button onClick=${takeTheirs}>Take the saved one</button>
      <button onClick=${() => goOn(`${theirs.content.trimEnd()}\n\n${mine}`)}>Edit both together</button></div>
  </section>`;
}
