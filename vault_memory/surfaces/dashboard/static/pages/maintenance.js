// Maintenance: what doctor sees and can mend, the indexes, what may leave, git, and the places of files.
import { html, useState } from '../lib/html.js';
import { call } from '../lib/api.js';
import { count, plural } from '../lib/format.js';
import { useCall, vaultChanged } from '../lib/use.js';
import { Plan } from '../ui/dialog.js';
import { complain, say } from '../ui/toast.js';
import { Failure, Waiting } from '../ui/parts.js';

export function Maintenance({ who }) {
  return html`<header class="head"><h1>Maintenance</h1></header><div class="stack">
    ${who.readonly ? html`<p class="notice">This server is read only; it shows how things are and mends nothing.</p>`
      : html`<${Doctor}/><${Indexes}/><${Leaving}/>`}<${State}/></div>`;
}

function useRun(operation) {
  const [state, setState] = useState({ running: false, data: null });
  const run = (given) => {
    setState((old) => ({ ...old, running: true }));
    return call(operation, given).then((data) => { setState({ running: false, data }); vaultChanged(); return data; },
      (error) => { setState((old) => ({ ...old, running: false })); complain(error); });
  };
  return [state, run];
}

function Doctor() {
  const [{ running, data }, run] = useRun('doctor');
  const [asked, setAsked] = useState(false);
  const problems = data ? data.checks.filter((check) => !check.fixed) : [];
  return html`<section class="card"><h2>Doctor</h2><div class="row">
      <button class="main" disabled=${running} onClick=${() => run({})}>Check everything</button>
      <button disabled=${running} onClick=${() => run({ thorough: true })}>Check thoroughly</button>
      ${problems.length > 0 && html`<button disabled=${running} onClick=${() => setAsked(true)}>Mend what can be mended</button>`}
      <span class="quiet" role="status">${running ? 'Looking…' : data ? (data.healthy ? 'Healthy.' : plural(problems.length, 'observation')) : 'Looks at notes, indexes, watcher, git, locks and places.'}</span></div>
    ${data && html`<table class="list"><tbody>${data.checks.map((check, n) => html`<tr key=${n}><td>${check.area}</td>
      <td><span class=${`chip ${check.fixed ? 'confirmed' : check.level}`}>${check.fixed ? 'mended' : check.level}</span></td><td>${check.detail}${check.fix && html`<br/><span class="quiet">${check.fix}</span>`}</td></tr>`)}</tbody></table>`}
    ${asked && html`<${Plan} title="Mend what can be mended" verb="Mend" danger=${false} lines=${problems.map((check) => check.fix || check.detail)} close=${() => setAsked(false)}
      note="No note is touched; what needs a person stays listed." carry=${() => run({ fix: true })}/>`}</section>`;
}

function Indexes() {
  const [{ running, data }, run] = useRun('reindex');
  const [asked, setAsked] = useState(false);
  return html`<section class="card"><h2>Indexes</h2><p class="quiet">They are derived: everything in them can be made anew from the notes.</p><div class="row">
      <button disabled=${running} onClick=${() => run({ missing: true })}>Bring up to date</button><button disabled=${running} onClick=${() => setAsked(true)}>Make anew</button>
      <span class="quiet" role="status">${running ? 'Working…' : data ? `${count(data.notes)} notes, ${count(data.chunks)} chunks, ${data.seconds} s` : ''}</span></div>
    ${asked && html`<${Plan} title="Make the indexes anew" verb="Make anew" danger=${false} close=${() => setAsked(false)}
      note="Every note is read again. Searches go on meanwhile and say that they are behind." carry=${async () => { run({}); }}/>`}</section>`;
}

function Leaving() {
  const [plan, setPlan] = useState(null);
  const ask = (operation, given) => call(operation, given).then((found) => {
    if (!found.count) say('Nothing to archive.');
    else setPlan({ operation, given, found });
  }, complain);
  const carry = async () => {
    await call(plan.operation, { ...plan.given, execute: true, ...(plan.operation === 'prune' ? { confirm_count: plan.found.count } : {}) });
    vaultChanged();
    say(`${plural(plan.found.count, 'memory', 'memories')} archived.`);
  };
  return html`<section class="card"><h2>What may leave</h2><p class="quiet">Archives what agents wrote and nobody needs; notes by people are never taken.</p><div class="row">
      <button onClick=${() => ask('expire', {})}>Expired</button><button onClick=${() => ask('prune', { strategy: 'by_decay' })}>Faded</button>
      <button onClick=${() => ask('prune', { strategy: 'by_age', max_age_days: 365 })}>Older than a year</button></div>
    ${plan && html`<${Plan} title=${`Archive ${plural(plan.found.count, 'memory', 'memories')}`} verb="Archive" close=${() => setPlan(null)} carry=${carry}
      lines=${(plan.found.would_prune || []).map((one) => one.title || one.ref)} note="They can be restored one by one or in bulk under Memories, Archived."/>`}</section>`;
}

function State() {
  const { data, error } = useCall('status');
  if (error) return html`<${Failure} error=${error}/>`;
  if (!data) return html`<${Waiting}/>`;
  const rows = [['Vault', data.root], ['Index', data.folders.index], ['Local state', data.folders.state], ['Generation', count(data.index.generation)],
    ['Git', data.git.waiting || (data.git.queued ? `${plural(data.git.queued, 'write')} queued` : 'everything committed')]];
  return html`<section class="card"><h2>Places and state</h2><dl class="facts">${rows.map(([name, text]) => html`<dt>${name}</dt><dd class="mono">${text}</dd>`)}</dl>
    ${data.warnings.map((text) => html`<p class="notice">${text}</p>`)}</section>`;
}
