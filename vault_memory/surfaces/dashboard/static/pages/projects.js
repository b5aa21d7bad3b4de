// Projects, domains and tags: how many memories each has, and spellings that drift apart.
import { html, useState } from '../lib/html.js';
import { call } from '../lib/api.js';
import { address } from '../lib/router.js';
import { plural } from '../lib/format.js';
import { useCall } from '../lib/use.js';
import { writeAll } from '../lib/write.js';
import { Plan } from '../ui/dialog.js';
import { complain } from '../ui/toast.js';
import { Bars, Empty, Failure, Waiting } from '../ui/parts.js';

const SIZES = { project: 60, domain: 60, tag: 60 };

export function Projects({ who }) {
  const stats = useCall('stats');
  const [plan, setPlan] = useState(null);
  if (stats.error) return html`<${Failure} ...${stats}/>`;
  if (!stats.data) return html`<${Waiting} rows=${10}/>`;
  const { by_project, by_domain, by_tag, drift } = stats.data;
  const section = (title, kind, counts, teach) => html`<section class="card"><h2>${title}</h2>${counts.length
    ? html`<${Bars} counts=${counts} label=${(name) => name} limit=${SIZES[kind]} to=${(name) => address('memories', { [kind]: name })}/>`
    : html`<p class="quiet">${teach}</p>`}</section>`;
  return html`<header class="head"><h1>Projects and domains</h1></header><div class="stack">
    ${drift.length > 0 && html`<section class="card"><h2>Spellings that drift apart</h2><ul class="bare edges">${drift.map((names) => html`<li key=${names.join()}>
      <span class="grow">${names.join(' · ')}</span>${!who.readonly && names.map((name) => html`<button class="small" key=${name}
        onClick=${() => rename('domain', names.filter((other) => other !== name), name).then(setPlan, complain)}>Use ${name}</button>`)}</li>`)}</ul></section>`}
    <div class="columns">
      ${section('Projects', 'project', by_project, 'Memories of a project are seen in that project only. Agents set it by the repository they work in.')}
      ${section('Domains', 'domain', by_domain, 'A domain is a topic area, such as billing or infrastructure.')}
      ${section('Tags', 'tag', by_tag, 'Tags stand in the front matter or in the text as #tag.')}
    </div>
    ${!who.readonly && html`<${Rename} stats=${stats.data} plan=${setPlan}/>`}
    ${stats.data.total === 0 && html`<${Empty} title="Nothing to count yet"><p>Store a first memory.</p></${Empty}>`}
    ${plan && html`<${Plan} title=${plan.title} lines=${plan.memories.map((one) => one.title)} verb="Carry out" danger=${false} close=${() => setPlan(null)}
      note=${plan.more ? 'These are the first 100; repeat it for the others.' : 'Only the one line in each note changes.'}
      carry=${() => writeAll(plan.memories.map((one) => ['update', { ref: one.ref, [plan.kind]: plan.name }, one.ref]), (n) => `${plural(n, 'memory', 'memories')} changed.`)}/>`}
  </div>`;
}

/** The plan of giving every memory of `names` the name `name` instead. */
async function rename(kind, names, name) {
  const pages = await Promise.all(names.map((old) => call('list', { [kind]: old, limit: 100, touch: false })));
  const memories = pages.flatMap((page) => page.items).filter((one) => one[kind] !== name);
  return { kind, name, memories, more: pages.some((page) => page.has_more), title: `${names.join(', ')} becomes ${name}: ${plural(memories.length, 'memory', 'memories')}` };
}

function Rename({ stats, plan }) {
  const [kind, setKind] = useState('project');
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const names = (kind === 'project' ? stats.by_project : stats.by_domain).map(([name]) => name);
  const submit = (event) => { event.preventDefault(); rename(kind, [from], to.trim()).then(plan, complain); };
  return html`<form class="card" onSubmit=${submit}><h2>Rename or merge</h2><div class="row">
    <select aria-label="What" value=${kind} onChange=${(event) => { setKind(event.target.value); setFrom(''); }}><option value="project">project</option><option value="domain">domain</option></select>
    <select aria-label="From" required value=${from} onChange=${(event) => setFrom(event.target.value)}><option value="">choose…</option>${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>
    <span>becomes</span><input aria-label="To" required value=${to} onInput=${(event) => setTo(event.target.value)}/><button>Show the plan</button></div></form>`;
}
