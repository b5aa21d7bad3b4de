// Projects, domains and tags: how many memories each has, and spellings that drift apart.
import { html, useState } from '../lib/html.js';
import { call, operationOf } from '../lib/api.js';
import { address } from '../lib/router.js';
import { plural } from '../lib/format.js';
import { useCall, vaultChanged } from '../lib/use.js';
import { writeAll } from '../lib/write.js';
import { Plan } from '../ui/dialog.js';
import { complain, say } from '../ui/toast.js';
import { Bars, Empty, Failure, Waiting } from '../ui/parts.js';

const SHOWN = 40;

export function Projects({ who }) {
  const stats = useCall('stats');
  const [plan, setPlan] = useState(null);
  if (stats.error) return html`<${Failure} ...${stats}/>`;
  if (!stats.data) return html`<${Waiting} rows=${10}/>`;
  const { by_project, by_domain, by_tag, drift } = stats.data;
  const section = (title, kind, counts, teach) => html`<section class="card"><h2>${title}</h2>${counts.length
    ? html`<${Bars} counts=${counts} label=${(name) => name} limit=${SHOWN} to=${(name) => address('memories', { [kind]: name })}/>`
    : html`<p class="quiet">${teach}</p>`}${counts.length > SHOWN && html`<p class="quiet small">and ${counts.length - SHOWN} more</p>`}</section>`;
  return html`<header class="head"><h1>Projects and domains</h1></header><div class="stack">
    ${drift.length > 0 && html`<section class="card"><h2>Spellings that drift apart</h2><ul class="bare edges">${drift.map((names) => html`<li key=${names.join()}>
      <span class="grow">${names.join(' · ')}</span>${!who.readonly && names.map((name) => html`<button class="small" key=${name}
        onClick=${() => rename('domain', names.filter((other) => other !== name), name).then(setPlan, complain)}>Use ${name}</button>`)}</li>`)}</ul></section>`}
    ${!who.readonly && html`<${Rename} stats=${stats.data} plan=${setPlan}/>`}
    <div class="columns thirds top">
      ${section('Projects', 'project', by_project, 'Memories of a project are seen in that project only. Agents set it by the repository they work in.')}
      ${section('Domains', 'domain', by_domain, 'A domain is a topic area, such as billing or infrastructure.')}
      ${section('Tags', 'tag', by_tag, 'Tags stand in the front matter or in the text as #tag.')}
    </div>
    ${stats.data.total === 0 && html`<${Empty} title="Nothing to count yet"><p>Store a first memory.</p></${Empty}>`}
    ${plan && html`<${Plan} ...${plan} verb="Carry out" danger=${false} close=${() => setPlan(null)} note="Only the one line in each note changes; Undo takes it back."/>`}
  </div>`;
}

/** The plan of giving every memory that bears one of `names` the name `name` instead: which, and how it is carried out. */
async function rename(kind, names, name) {
  const memories = kind === 'project' ? await ofProjects(names) : await planned(kind, names, name);
  const lines = [...new Map(memories.map((one) => [one.ref, one])).values()];
  return { title: `${names.join(', ')} becomes ${name}: ${plural(lines.length, 'memory', 'memories')}`, lines: lines.map((one) => one.title),
    carry: kind === 'project' ? () => writeAll(lines.map((one) => ['update', { ref: one.ref, project: name }, one.ref]), changed) : () => carried(kind, names, name, lines) };
}

const changed = (n) => `${plural(n, 'memory', 'memories')} changed.`;
const nameOf = { domain: 'domains', tag: 'tags' };

async function planned(kind, names, name) {
  const plans = await Promise.all(names.map((old) => call(nameOf[kind], { rename: old, to: name })));
  return plans.flatMap(({ plan }) => plan);
}

/** One operation for each old name, so that one Undo takes back them all. */
async function carried(kind, names, name, memories) {
  const operations = [];
  for (const old of names) {
    const { plan } = await call(nameOf[kind], { rename: old, to: name, execute: true });
    operations.unshift(plan.length ? await operationOf(plan[0].ref, { named: nameOf[kind] }).catch(() => null) : null);
  }
  vaultChanged();
  say(changed(memories.length), { operations });
}

async function ofProjects(names) {
  const found = [];
  for (const project of names) {
    for (let page = { has_more: true }, offset = 0; page.has_more; offset += 100) {
      page = await call('list', { project, limit: 100, offset, sort: 'id', touch: false });
      found.push(...page.items);
    }
  }
  return found;
}

function Rename({ stats, plan }) {
  const [kind, setKind] = useState('project');
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const names = stats[`by_${kind}`].map(([name]) => name).filter((name) => kind !== 'project' || name !== 'global');
  const submit = (event) => { event.preventDefault(); rename(kind, [from], to.trim()).then(plan, complain); };
  return html`<form class="card" onSubmit=${submit}><h2>Rename or merge</h2><p class="quiet">A name that is in use is merged into. The plan comes first.</p><div class="row">
    <select aria-label="What" value=${kind} onChange=${(event) => { setKind(event.target.value); setFrom(''); }}>${['project', 'domain', 'tag'].map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>
    <select aria-label="From" required value=${from} onChange=${(event) => setFrom(event.target.value)}><option value="">choose…</option>${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>
    <span>becomes</span><input aria-label="To" required list="names" value=${to} onInput=${(event) => setTo(event.target.value)}/><button disabled=${to.trim() === from}>Show the plan</button></div>
    <datalist id="names">${names.map((name) => html`<option key=${name} value=${name}/>`)}</datalist></form>`;
}
