// What wants a person besides the queue: contradictions, what has expired, findings, duplicates, secrets.
import { html, useState } from '../lib/html.js';
import { call } from '../lib/api.js';
import { address } from '../lib/router.js';
import { plural, words } from '../lib/format.js';
import { useCall } from '../lib/use.js';
import { write, writeMany } from '../lib/write.js';
import { Plan } from '../ui/dialog.js';
import { Lines } from '../ui/lines.js';
import { complain } from '../ui/toast.js';
import { Failure, Waiting } from '../ui/parts.js';

const FIRST = 8;
const Link = ({ one }) => html`<a href=${address('review', { ref: one.ref })}>${one.title}</a>`;

export function Attention({ readonly }) {
  const { data, error } = useCall('/dashboard/attention');
  const [plan, setPlan] = useState(null);
  const [most, setMost] = useState(FIRST);
  if (error) return html`<${Failure} error=${error}/>`;
  if (!data) return null;
  const plans = () => call('expire').then(setPlan, complain);
  const carry = () => writeMany('expire', { execute: true }, plan.would_prune[0].ref, `${plural(plan.count, 'memory', 'memories')} archived.`);
  return html`
    ${data.contradictions.length + data.contradicted.length > 0 && html`<section class="card"><h2>Contradictions</h2><ul class="bare wanting">
      ${data.contradictions.slice(0, most).map(([one, other]) => html`<${Two} key=${one.ref + other.ref} kind="contradicts" one=${other} other=${one} readonly=${readonly}/>`)}
      ${data.contradicted.map((one) => html`<li key=${one.ref}><span class="chip contradicted">contradicted</span><span class="grow"><${Link} one=${one}/></span>
        ${!readonly && html`<button class="small" onClick=${() => write('verify', { ref: one.ref, verification: 'confirmed' }, one.ref, 'Confirmed.').catch(complain)}>It holds</button>
          <${Archive} one=${one}/>`}</li>`)}</ul>
      ${data.contradictions.length > most && html`<button onClick=${() => setMost(Infinity)}>Show all ${data.contradictions.length}</button>`}</section>`}
    ${data.expired.length > 0 && html`<section class="card"><h2>Expired</h2><p class="quiet">No search shows them any more.</p><ul class="bare wanting">${data.expired.map((one) => html`
      <li key=${one.ref}><span class="grow"><${Link} one=${one}/></span><span class="quiet small">${one.reason}</span></li>`)}</ul>
      ${!readonly && html`<button onClick=${plans}>Archive them</button>`}</section>`}
    ${plan && html`<${Plan} title=${`Archive ${plural(plan.count, 'memory', 'memories')}`} verb="Archive" close=${() => setPlan(null)} carry=${carry}
      lines=${plan.would_prune.map((one) => `${one.title} (${one.reason})`)} note="They stay on disk; Undo brings them all back."/>`}`;
}

/** Two memories side by side: what differs, and the ways to end it. */
function Two({ kind, one, other, differs, readonly }) {
  const [shown, setShown] = useState(false);
  const [joining, setJoining] = useState(false);
  const { data } = useCall(shown ? 'get' : null, { refs: [one.ref, other.ref], touch: false });
  const texts = data ? [one, other].map(({ ref }) => data.memories.find((found) => found.ref === ref)) : [];
  const join = () => write('merge', { refs: [one.ref, other.ref] }, one.ref, 'Merged.');
  return html`<li><span class="chip">${words(kind)}</span><span class="grow"><${Link} one=${one}/> <span class="quiet">and</span> <${Link} one=${other}/>
      ${differs && html`<br/><span class="quiet small">${differs}</span>`}</span>
    <button class="small" aria-expanded=${shown} onClick=${() => setShown(!shown)}>${shown ? 'Hide' : 'Compare'}</button>
    ${shown && html`<div class="compared">${!data ? html`<${Waiting} rows=${3}/>` : texts.every(Boolean) && html`<${Lines} before=${texts[0].content.trim()} after=${texts[1].content.trim()}/>`}
      ${!readonly && html`<div class="row"><button class="small" onClick=${() => setJoining(true)}>Merge</button>
        <${Archive} one=${one}/><${Archive} one=${other}/></div>`}</div>`}
    ${joining && html`<${Plan} title="Merge the two" verb="Merge" danger=${false} close=${() => setJoining(false)} carry=${join} lines=${[one.title, other.title]}
      note="The more important one takes the other's text and tags; the other is archived."/>`}</li>`;
}

function Archive({ one }) {
  const [asked, setAsked] = useState(false);
  return html`<button class="small" onClick=${() => setAsked(true)}>Archive “${one.title.slice(0, 40)}${one.title.length > 40 ? '…' : ''}”</button>
    ${asked && html`<${Plan} title="Archive this memory" verb="Archive" lines=${[one.title]} close=${() => setAsked(false)} note="It leaves search and packs; Undo or Restore brings it back."
      carry=${() => write('forget', { ref: one.ref }, one.ref, 'Archived.')}/>`}`;
}

export function Findings() {
  const { data } = useCall('status');
  if (!data || !data.findings.length) return null;
  return html`<section class="card"><h2>Findings on notes</h2><p class="quiet">No tool changes these by itself: they are for the person who wrote the note.</p><ul class="bare wanting">${data.findings.slice(0, 50).map((one, n) => html`
    <li key=${n}><span class="grow"><a href=${address('review', { ref: one.path })}>${one.path}</a>${one.line ? `, line ${one.line}` : ''}</span><span class="quiet small reason">${one.reason}</span></li>`)}</ul></section>`;
}

export function Duplicates({ readonly }) {
  const [asked, setAsked] = useState(false);
  const { data, error } = useCall(asked ? 'find_duplicates' : null, { limit: 20 });
  return html`<section class="card"><h2>Look for duplicates</h2>
    ${!asked ? html`<p class="quiet">Compares all memories with each other. It changes nothing.</p><button onClick=${() => setAsked(true)}>Compare all</button>`
      : error ? html`<${Failure} error=${error}/>` : !data ? html`<${Waiting}/>`
      : data.items.length === 0 ? html`<p class="quiet">No two memories say the same.</p>`
      : html`<p class="quiet small">${data.has_more ? `The surest ${data.items.length} of ${data.total} pairs` : plural(data.total, 'pair')}</p><ul class="bare wanting">${data.items.map((pair) => html`
          <${Two} key=${pair.older.ref + pair.newer.ref} kind=${pair.kind} one=${pair.older} other=${pair.newer} differs=${pair.differs} readonly=${readonly}/>`)}</ul>`}</section>`;
}

export function Secrets() {
  const [found, setFound] = useState(null);
  const look = () => call('doctor', { secrets: true }).then(({ checks }) => setFound(checks.filter((check) => check.area === 'secrets')), complain);
  const path = (check) => check.detail.replace(/:\d+:\d+ looks like .*$/, '');
  return html`<section class="card"><h2>Look for secrets</h2>${!found ? html`<p class="quiet">Keys, tokens and passwords that stand in notes. Nothing is shown of them but where they are.</p><button onClick=${look}>Look through all notes</button>`
    : html`<ul class="bare wanting">${found.map((check, n) => html`<li key=${n}><span class=${`chip ${check.level}`}>${check.level === 'ok' ? 'none' : 'secret'}</span>
      <span class="grow">${check.level === 'problem' ? html`<a href=${address('review', { ref: path(check) })}>${check.detail}</a>` : check.detail}${check.fix && html`<br/><span class="quiet small">${check.fix}</span>`}</span></li>`)}</ul>
      <button class="small" onClick=${look}>Look again</button>`}</section>`;
}
