// Review: pairs that wait for a person, settled one by one, with a way back; and what else wants looking at.
import { html, useState } from '../lib/html.js';
import { address } from '../lib/router.js';
import { plural, words } from '../lib/format.js';
import { useCall } from '../lib/use.js';
import { write } from '../lib/write.js';
import { Plan } from '../ui/dialog.js';
import { Lines } from '../ui/lines.js';
import { Ago, Empty, Failure, Waiting } from '../ui/parts.js';
import { Attention, Duplicates, Findings, Secrets } from './wanting.js';

const ACTIONS = {
  supersede: ['The newer replaces the older', 'The older is archived and linked from the newer.'],
  merge: ['Merge into the older', 'The newer text is added under the older; the newer is archived.'],
  keep_both: ['Keep both', 'Both stay active; the pair leaves the queue.'],
  discard: ['Discard the newer', 'The newer is archived.'],
};

export function Review({ who }) {
  const queue = useCall('review', { limit: 20 });
  return html`<header class="head"><h1>Review</h1><span class="quiet small">${queue.data ? `${plural(queue.data.total, 'pair')} waiting` : ''}</span></header>
    <div class="stack">
      ${queue.error ? html`<${Failure} ...${queue}/>` : !queue.data ? html`<${Waiting}/>`
        : queue.data.items.length === 0 ? html`<${Empty} title="Nothing waits">
            <p>When a new memory says nearly the same as an old one, or contradicts it, both are kept and the pair appears here. You decide which
            one holds.</p></${Empty}>`
        : queue.data.items.map((pair) => html`<${Pair} key=${pair.memory.ref + pair.rival.ref} pair=${pair} readonly=${who.readonly}/>`)}
      <${Attention} readonly=${who.readonly}/>
      <${Findings}/>
      <${Duplicates} readonly=${who.readonly}/>
      ${!who.readonly && html`<${Secrets}/>`}
    </div>`;
}

const Side = ({ memory, label }) => html`<div><p class="small quiet">${label}, <${Ago} time=${memory.created_at}/> by ${memory.agent || memory.source}</p>
  <h2><a href=${address('review', { ref: memory.ref })}>${memory.title}</a></h2></div>`;

function Pair({ pair, readonly }) {
  const [action, setAction] = useState(null);
  const { memory, rival } = pair;
  const settle = () => write('review_resolve', { ref: memory.ref, rival: rival.ref, action }, memory.ref, 'Settled.');
  return html`<section class="card stack"><div class="row"><span class="chip">${words(pair.kind)}</span><span class="quiet">${pair.differs}</span></div>
    <div class="pair"><${Side} memory=${rival} label="Older"/><${Side} memory=${memory} label="Newer"/></div>
    <${Lines} before=${rival.content.trim()} after=${memory.content.trim()}/>
    ${!readonly && html`<div class="row">${Object.entries(ACTIONS).map(([name, [title]]) => html`<button key=${name}
      class=${name === 'supersede' ? 'main' : ''} onClick=${() => setAction(name)}>${title}</button>`)}</div>`}
    ${action && html`<${Plan} title=${ACTIONS[action][0]} verb="Settle" danger=${action === 'discard'} note=${ACTIONS[action][1]}
      lines=${[`Older: ${rival.title}`, `Newer: ${memory.title}`]} carry=${settle} close=${() => setAction(null)}/>`}</section>`;
}
