// One memory, beside the page: its note, its relations, its history; and what can be done with it.
import { html, useEffect, useMemo, useRef, useState } from '../lib/html.js';
import { rendered } from '../lib/markdown.js';
import { address, change, here } from '../lib/router.js';
import { moment, percent, words } from '../lib/format.js';
import { useCall, useKeys } from '../lib/use.js';
import { Failure, Status, Tags, Type, Waiting } from '../ui/parts.js';
import { Actions } from './actions.js';
import { Edit } from './edit.js';
import { History } from './history.js';
import { Relations } from './relations.js';

const TABS = { note: 'Note', relations: 'Relations', history: 'History' };

export function Record({ reference, tab, who }) {
  const { data, error, again } = useCall('get', { refs: [reference], touch: false, deleted: true });
  const [draft, setDraft] = useState(null);
  const memory = data && data.memories[0];
  const box = useRef();
  useKeys((event) => {
    if (event.key === 'e' && memory && !draft && !who.readonly) { event.preventDefault(); setDraft(memory); }
  });
  useEffect(() => box.current.focus({ preventScroll: true }), []);
  return html`<aside class="record fades" ref=${box} tabindex="-1" aria-label="Record">
    <div class="record-bar row"><span class="mono quiet grow">${memory ? memory.path : ''}</span>
      <button class="small plain" onClick=${() => change({ ref: undefined, tab: undefined })} aria-label="Close the record">✕</button></div>
    ${error ? html`<${Failure} error=${error} again=${again}/>` : !memory ? html`<${Waiting} rows=${10}/>`
      : draft ? html`<${Edit} base=${draft} latest=${memory} close=${() => setDraft(null)}/>`
      : html`<${Shown} memory=${memory} tab=${tab} who=${who} edit=${() => setDraft(memory)}/>`}
  </aside>`;
}

function Shown({ memory, tab, who, edit }) {
  const { page, query } = here();
  return html`<h2 class="record-title">${memory.title}</h2>
    <p class="meta"><${Type} type=${memory.memory_type}/><${Status} status=${memory.status}/>
      <${Tags} tags=${memory.tags} pick=${(tag) => address('memories', { tag })}/></p>
    <${Findings} memory=${memory}/>
    <${Actions} memory=${memory} edit=${edit} readonly=${who.readonly}/>
    <nav class="tabs" aria-label="Parts of the record">${Object.entries(TABS).map(([name, title]) => html`
      <a key=${name} href=${address(page, { ...query, tab: name })} aria-current=${name === tab ? 'page' : undefined}>${title}</a>`)}</nav>
    ${tab === 'history' ? html`<${History} memory=${memory} readonly=${who.readonly}/>`
      : tab === 'relations' ? html`<${Relations} memory=${memory} readonly=${who.readonly}/>`
      : html`<${Note} content=${memory.content}/><${Facts} memory=${memory}/>`}`;
}

const Findings = ({ memory }) => memory.findings.length > 0 && html`<ul class="notice">${memory.findings.map((one) => html`
  <li>${one.line ? `Line ${one.line}: ` : ''}${one.reason}</li>`)}</ul>`;

/** A note's text, harmless. */
export function Note({ content }) {
  const inside = useMemo(() => ({ __html: rendered(content) }), [content]);
  return html`<div class="note" dangerouslySetInnerHTML=${inside}></div>`;
}

function Facts({ memory }) {
  const seen = memory.decayed_confidence;
  const rows = [
    ['Importance', memory.importance.toFixed(2)],
    ['Confidence', `${percent(memory.confidence)}${seen !== null && seen < memory.confidence - 0.01 ? `, faded to ${percent(seen)}` : ''}`],
    ['Verification', memory.verification], ['Project', memory.project], ['Domain', memory.domain], ['Actor', memory.actor],
    ['Written by', [memory.agent || memory.source, memory.session].filter(Boolean).join(' · ')], ['Pinned', memory.pinned && 'yes'],
    ['Flags', memory.flags.map(words).join(', ')], ['Page', memory.url], ['Aliases', memory.aliases.join(', ')],
    ['Created', moment(memory.created_at)], ['Changed', moment(memory.updated_at)], ['Last used', moment(memory.last_accessed_at)],
    ['Used', memory.access_count ? `${memory.access_count} times` : ''], ['Expires', moment(memory.expires_at)],
    ['True from', moment(memory.valid_from)], ['True until', moment(memory.valid_to)], ['Version', memory.version], ['Id', memory.id],
    ...Object.entries(memory.metadata || {}).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  ];
  return html`<dl class="facts">${rows.filter(([, value]) => value || value === 0).map(([name, value]) => html`
    <dt>${name}</dt><dd class=${name === 'Id' ? 'mono' : ''}>${value}</dd>`)}</dl>`;
}
