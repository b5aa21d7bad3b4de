// Maintenance: what doctor sees and can mend, the indexes, copies, what may leave, and the places of files.
import { html, useEffect, useState } from '../lib/html.js';
import { call, post } from '../lib/api.js';
import { count, plural, words } from '../lib/format.js';
import { useCall, vaultChanged } from '../lib/use.js';
import { writeMany } from '../lib/write.js';
import { Plan } from '../ui/dialog.js';
import { complain, say } from '../ui/toast.js';
import { Failure, Waiting } from '../ui/parts.js';
import { Git, Trail } from './trail.js';

export function Maintenance({ who }) {
  return html`<header class="head"><h1>Maintenance</h1></header><div class="stack">
    ${who.readonly ? html`<p class="notice">Here nothing may be written; this shows how things are and mends nothing.</p>`
      : html`<${Doctor}/>`}
    ${!who.readonly && html`<div class="columns">${!who.name && html`<${Indexes}/>`}<${Leaving}/></div>`}
    ${!who.name && html`<div class="columns"><${Copies}/><${Git}/></div><${Trail} readonly=${who.readonly}/>`}
    <${State}/></div>`;
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

const ASK_MS = 300;

/** How far the reindexing is that runs on the server, whoever started it; asked again and again while `on`. */
function useProgress(on) {
  const [running, setRunning] = useState(null);
  useEffect(() => {
    const ask = () => call('/dashboard/reindex').then((found) => setRunning(found.running), () => setRunning(null));
    ask();
    const timer = on ? setInterval(ask, ASK_MS) : 0;
    return () => clearInterval(timer);
  }, [on]);
  return running;
}

function Indexes() {
  const [{ running, data }, setState] = useState({ running: false, data: null });
  const [asked, setAsked] = useState(false);
  const progress = useProgress(running);
  const run = (given) => {
    setState({ running: true, data: null });
    post('/dashboard/reindex', given).then((found) => { setState({ running: false, data: found }); vaultChanged(); },
      (error) => { setState({ running: false, data: null }); complain(error); });
  };
  const busy = running || progress !== null;
  return html`<section class="card"><h2>Indexes</h2><p class="quiet">They are derived: everything in them can be made anew from the notes.</p><div class="row">
      <button disabled=${busy} onClick=${() => run({ missing: true })}>Bring up to date</button><button disabled=${busy} onClick=${() => setAsked(true)}>Make anew</button></div>
    <div class="progress" role="status">${busy ? html`<${Progress} ...${progress || { step: 'starting' }}/>`
      : data && `Done: ${count(data.notes)} notes, ${count(data.chunks)} passages in ${data.seconds.toFixed(1)} s.`}</div>
    ${asked && html`<${Plan} title="Make the indexes anew" verb="Make anew" danger=${false} close=${() => setAsked(false)} lines=${['every note is read again', 'words, passages and vectors are made anew']}
      note="No note changes. Searches go on meanwhile and say that they are behind." carry=${async () => run({})}/>`}</section>`;
}

const Progress = ({ step, done, total }) => html`<span>${words(step)}${total ? ` ${count(done)} of ${count(total)}` : '…'}</span>
  <progress max=${total || undefined} value=${total ? done : undefined} aria-label=${step}></progress>`;

function Leaving() {
  const [plan, setPlan] = useState(null);
  const ask = (operation, given) => call(operation, given).then((found) => {
    if (!found.count) say('Nothing to archive.');
    else setPlan({ operation, given, found });
  }, complain);
  const carry = () => {
    const { operation, given, found } = plan;
    const count = operation === 'prune' ? { confirm_count: found.count } : {};
    return writeMany(operation, { ...given, ...count, execute: true }, found.would_prune[0].ref, `${plural(found.count, 'memory', 'memories')} archived.`);
  };
  return html`<section class="card"><h2>What may leave</h2><p class="quiet">Faded and old: what agents wrote; notes by people are never taken.</p><div class="row">
      <button onClick=${() => ask('prune', { strategy: 'by_decay' })}>Faded</button><button onClick=${() => ask('prune', { strategy: 'by_age', max_age_days: 365 })}>Older than a year</button>
      <button onClick=${() => ask('expire', {})}>Expired</button></div>
    ${plan && html`<${Plan} title=${`Archive ${plural(plan.found.count, 'memory', 'memories')}`} verb="Archive" close=${() => setPlan(null)} carry=${carry}
      lines=${plan.found.would_prune.map((one) => `${one.title || one.ref} (${one.reason})`)} note="They stay on disk; Undo brings them all back."/>`}</section>`;
}

function Copies() {
  return html`<section class="card"><h2>Backup</h2><p class="quiet">One zip file that is a vault itself: every note byte for byte, the files they link to, usage and settings. Indexes are not in it;
    they are made anew.</p><div class="row"><a class="button main" href="/dashboard/backup" download>Download a backup</a></div>
    <p class="quiet small">From a terminal, for example every night: <code>vault-memory backup FOLDER --zip</code></p></section>`;
}

function State() {
  const { data, error } = useCall('status');
  if (error) return html`<${Failure} error=${error}/>`;
  if (!data) return html`<${Waiting}/>`;
  const rows = [['Vault', data.root], ['Index', data.folders.index], ['Local state', data.folders.state], ['Generation', count(data.index.generation)],
    ['Model', data.index.fingerprint]];
  return html`<section class="card"><h2>Places and state</h2><dl class="facts">${rows.map(([name, text]) => html`<dt>${name}</dt><dd class="mono">${text}</dd>`)}</dl>
    ${data.warnings.map((text) => html`<p class="notice">${text}</p>`)}</section>`;
}
