// Anchors: the standing instructions that head every search and pack.
import { html, useState } from '../lib/html.js';
import { call } from '../lib/api.js';
import { address } from '../lib/router.js';
import { useCall, vaultChanged } from '../lib/use.js';
import { write } from '../lib/write.js';
import { Plan } from '../ui/dialog.js';
import { complain, say } from '../ui/toast.js';
import { Empty, Failure, Waiting } from '../ui/parts.js';

const LONGEST = 400;

export function Anchors({ who }) {
  const { data, error, again } = useCall('list', { memory_type: 'anchor', status: 'active', limit: 100, touch: false });
  const [asked, setAsked] = useState(null);
  return html`<header class="head"><h1>Anchors</h1><span class="quiet">One to five short sentences that hold always, shown to agents before anything else.</span></header>
    ${!who.readonly && html`<${Add}/>`}
    ${error ? html`<${Failure} error=${error} again=${again}/>` : !data ? html`<${Waiting}/>`
      : data.items.length === 0 ? html`<${Empty} title="No anchors yet"><p>An anchor is for what an agent must never forget, such as “Never push to main. Ask
          before deleting data.” Keep them few: each one is read in every session.</p></${Empty}>`
      : data.items.map((one) => html`<article class="anchor" key=${one.ref}><p>${one.content.trim()}</p>
          <div class="row small quiet"><span class="chip">${one.anchor_scope || 'global'}</span>${one.project && html`<span>${one.project}</span>`}
            ${one.stacks.length > 0 && html`<span>${one.stacks.join(', ')}</span>`}
            <a href=${address('anchors', { ref: one.ref })}>Open</a>
            ${!who.readonly && html`<button class="small plain" onClick=${() => setAsked(one)}>Remove</button>`}</div></article>`)}
    ${asked && html`<${Plan} title="Remove this anchor" lines=${[asked.content.trim()]} verb="Archive it" close=${() => setAsked(null)}
      note="It is archived, and Undo brings it back." carry=${() => write('anchor_remove', { ref: asked.ref }, asked.ref, 'Anchor removed.')}/>`}`;
}

function Add() {
  const [text, setText] = useState('');
  const [project, setProject] = useState('');
  const [stacks, setStacks] = useState('');
  const submit = (event) => {
    event.preventDefault();
    const named = stacks.split(',').map((name) => name.trim()).filter(Boolean);
    const scope = named.length ? 'stack' : project ? 'project' : 'global';
    call('anchor_add', { text, scope, project, stacks: named.length ? named : undefined }).then(() => {
      setText('');
      vaultChanged();
      say('Anchor added.');
    }, complain);
  };
  return html`<form class="card stack" onSubmit=${submit}>
    <label class="field"><span>New anchor <span class="number">${text.length} of ${LONGEST}</span></span>
      <textarea rows="2" maxlength=${LONGEST} required value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>
    <div class="row"><input aria-label="Project" placeholder="Everywhere, or a project" value=${project} onInput=${(event) => setProject(event.target.value)}/>
      <input aria-label="Technologies" placeholder="Or technologies: django, postgres" value=${stacks} onInput=${(event) => setStacks(event.target.value)}/>
      <button class="main" disabled=${!text.trim()}>Add</button></div></form>`;
}
