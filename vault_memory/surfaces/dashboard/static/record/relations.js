// What a memory is tied to: stated relations both ways, links, and what is near; each is a step to the next record.
import { html, useState } from '../lib/html.js';
import { open } from '../lib/router.js';
import { words } from '../lib/format.js';
import { useCall } from '../lib/use.js';
import { write } from '../lib/write.js';
import { complain } from '../ui/toast.js';
import { Empty, Waiting } from '../ui/parts.js';
import { Plan } from '../ui/dialog.js';

export const TYPES = ['relates_to', 'depends_on', 'contradicts', 'supersedes', 'derived_from'];

export function Relations({ memory, readonly }) {
  const { data } = useCall('relations', { ref: memory.ref });
  const { data: near } = useCall('related', { ref: memory.ref, limit: 8 });
  if (!data) return html`<${Waiting}/>`;
  const outgoing = data.outgoing.map((edge) => [edge, edge.target_ref, words(edge.relation_type || 'links to')]);
  const incoming = data.incoming.map((edge) => [edge, edge.source_ref, `${words(edge.relation_type || 'links')} (from there)`]);
  const stated = new Set([...outgoing, ...incoming].map(([, ref]) => ref));
  const similar = near ? near.neighbours.filter((one) => !stated.has(one.memory.ref)) : [];
  return html`${!readonly && html`<${Add} memory=${memory}/>`}
    ${stated.size === 0 && html`<${Empty} title="Not tied to anything yet"><p>Relations say how memories belong together. Agents follow them: what
      depends on what, what replaced what. Add one above, or drag a line in the graph.</p></${Empty}>`}
    <${Edges} title="States" edges=${outgoing} memory=${memory} readonly=${readonly}/>
    <${Edges} title="Stated elsewhere" edges=${incoming} memory=${memory} readonly/>
    ${similar.length > 0 && html`<h3>Near by meaning</h3><ul class="bare edges">${similar.map(({ memory: one, how, score }) => html`
      <li key=${one.ref}><a href="#" onClick=${(event) => { event.preventDefault(); open(one.ref); }}>${one.title}</a>
        <span class="quiet small">${words(how)} ${score ? score.toFixed(2) : ''}</span></li>`)}</ul>`}`;
}

function Edges({ title, edges, memory, readonly }) {
  const refs = [...new Set(edges.map(([, ref]) => ref).filter(Boolean))].slice(0, 100);
  const { data } = useCall(refs.length ? 'get' : null, { refs, touch: false });
  const [asked, setAsked] = useState(null);
  const titles = Object.fromEntries((data ? data.memories : []).map((one) => [one.ref, one.title]));
  if (!edges.length) return null;
  const name = (edge, ref) => titles[ref] || edge.target || ref;
  return html`<h3>${title}</h3><ul class="bare edges">${edges.map(([edge, ref, how], n) => html`<li key=${n}>
    <span class="chip">${how}</span>
    ${ref ? html`<a class="grow" href="#" onClick=${(event) => { event.preventDefault(); open(ref); }}>${name(edge, ref)}</a>`
      : html`<span class="grow quiet">${edge.target} (no such note)</span>`}
    ${!readonly && edge.relation_type && ref && html`<button class="small plain" aria-label=${`Remove the relation to ${name(edge, ref)}`}
      onClick=${() => setAsked({ edge, ref })}>✕</button>`}
    ${edge.note && html`<p class="small quiet">${edge.note}</p>`}</li>`)}</ul>
    ${asked && html`<${Plan} title="Remove this relation" verb="Remove" close=${() => setAsked(null)}
      lines=${[`${memory.title} ${words(asked.edge.relation_type)} ${name(asked.edge, asked.ref)}`]}
      carry=${() => write('unrelate', { from_ref: memory.ref, to_ref: asked.ref, relation_type: asked.edge.relation_type }, memory.ref, 'Relation removed.')}/>`}`;
}

function Add({ memory }) {
  const [text, setText] = useState('');
  const [type, setType] = useState(TYPES[0]);
  const { data } = useCall(text.trim().length > 1 ? 'search' : null, { query: text, limit: 6, touch: false }, 120);
  const relate = (target) => write('relate', { from_ref: memory.ref, to_ref: target.ref, relation_type: type }, memory.ref,
    `Now ${words(type)} “${target.title}”.`).then(() => setText(''), complain);
  const hits = text.trim().length > 1 && data ? data.hits.filter((hit) => hit.memory.ref !== memory.ref) : [];
  return html`<div class="add-relation"><div class="row">
      <select aria-label="Relation" value=${type} onChange=${(event) => setType(event.target.value)}>${TYPES.map((name) => html`
        <option key=${name} value=${name}>${words(name)}</option>`)}</select>
      <input class="grow" placeholder="Find the other memory" aria-label="Other memory" value=${text} onInput=${(event) => setText(event.target.value)}/></div>
    ${hits.length > 0 && html`<ul class="bare picks">${hits.map(({ memory: one }) => html`<li key=${one.ref}>
      <button class="plain" onClick=${() => relate(one)}>${one.title}</button></li>`)}</ul>`}</div>`;
}
