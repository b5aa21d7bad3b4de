// Overview: how much there is, how it is doing, and what happened lately.
import { html, useEffect, useState } from '../lib/html.js';
import { call } from '../lib/api.js';
import { address } from '../lib/router.js';
import { count, percent, plural } from '../lib/format.js';
import { useCall, useChanges } from '../lib/use.js';
import { Ago, Bars, Empty, Failure, Status, Type, Waiting } from '../ui/parts.js';

const DAYS = 30;
const AT_ONCE = 5;

export function Overview() {
  const stats = useCall('stats');
  const status = useCall('status');
  if (stats.error) return html`<${Failure} ...${stats}/>`;
  if (stats.data && stats.data.total === 0) return html`<${FirstSteps}/>`;
  return html`<header class="head"><h1>Overview</h1><span class="quiet mono" title=${status.data?.root}>${status.data ? status.data.root.split('/').pop() : ''}</span></header>
    <div class="stack">
      <${Figures} stats=${stats.data}/>
      <div class="columns">
        <section class="card"><h2>Last ${DAYS} days</h2><${Activity}/></section>
        <section class="card"><h2>Health</h2><${Health} status=${status} stats=${stats.data}/></section>
        <section class="card"><h2>Kinds</h2>${stats.data
          ? html`<${Bars} counts=${stats.data.by_type} to=${(type) => address('memories', { type })}/>` : html`<${Waiting}/>`}</section>
        <section class="card"><h2>Confidence</h2><${Confidence}/></section>
      </div>
      <section class="card"><h2>Recent changes</h2><${Recent}/></section>
    </div>`;
}

function FirstSteps() {
  return html`<header class="head"><h1>Overview</h1></header><${Empty} title="Nothing is remembered yet">
    <p>A memory is a Markdown note. Write one in your editor, let an agent store one, or try it here:</p>
    <pre class="command">vault-memory remember "Deploys go through fly.io, not Heroku."</pre>
    <p>Connect a coding agent, and it remembers by itself:</p><pre class="command">vault-memory connect</pre>
    <p>Whatever is saved appears on this page without reloading.</p></${Empty}>`;
}

function Figures({ stats }) {
  const by = Object.fromEntries(stats ? stats.by_status : []);
  const figures = stats
    ? [['active', by.active || 0, address('memories')],
       ['archived', by.archived || 0, address('memories', { status: 'archived' })],
       ['projects', stats.by_project.filter(([name]) => name !== 'global').length, address('projects')],
       ['tags', stats.by_tag.length, address('projects')],
       ['importance', stats.average_importance === null ? '–' : stats.average_importance.toFixed(2), address('memories')]]
    : ['active', 'archived', 'projects', 'tags', 'importance'].map((name) => [name, '…', '#']);
  return html`<ul class="bare figures">${figures.map(([name, value, to]) => html`<li key=${name}><a href=${to}>
    <b class="number">${typeof value === 'number' ? count(value) : value}</b><span>${name === 'importance' ? 'average importance' : name}</span></a></li>`)}</ul>`;
}

/** Numbers of memories for many filters, a few requests at a time. */
function useCounts(filters) {
  const [counts, setCounts] = useState(null);
  const changes = useChanges();
  useEffect(() => {
    const abort = new AbortController();
    const found = new Array(filters.length).fill(0);
    let next = 0;
    const work = async () => {
      while (next < filters.length) {
        const at = next++;
        found[at] = (await call('list', { ...filters[at], limit: 1, touch: false }, abort.signal)).total;
      }
    };
    Promise.all(Array.from({ length: AT_ONCE }, work)).then(() => setCounts(found), () => {});
    return () => abort.abort();
  }, [changes]);
  return counts;
}

function days() {
  const today = new Date();
  today.setHours(0, 0, 0, 0);
  return Array.from({ length: DAYS }, (_, n) => {
    const from = new Date(today);
    from.setDate(today.getDate() - (DAYS - 1 - n));
    const to = new Date(from);
    to.setDate(from.getDate() + 1);
    return [from, to];
  });
}

function Activity() {
  const spans = days();
  const counts = useCounts(spans.map(([from, to]) => ({ updated_after: from.toISOString(), updated_before: to.toISOString() })));
  const most = Math.max(1, ...(counts || []));
  const name = (day) => day.toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
  const total = (counts || []).reduce((sum, n) => sum + n, 0);
  return html`<p class="quiet small">${counts ? `${plural(total, 'memory', 'memories')} written or last changed` : 'Counting'}</p>
    <div class="activity">${spans.map(([from, to], n) => {
      const found = counts ? counts[n] : 0;
      return html`<a key=${n} href=${address('timeline', { after: from.toISOString(), before: to.toISOString() })}
        title=${`${name(from)}: ${found}`} aria-label=${`${name(from)}: ${found}`}>
        <i style=${{ height: `${found ? Math.max(6, (100 * found) / most) : 0}%` }}></i></a>`;
    })}</div>
    <div class="axis small quiet"><span>${name(spans[0][0])}</span><span>today</span></div>`;
}

const LEVELS = [['confirmed', { verification: 'confirmed' }], ['unverified', { verification: 'unverified' }],
  ['contradicted', { verification: 'contradicted' }]];

function Confidence() {
  const [sample, setSample] = useState(null);
  const changes = useChanges();
  useEffect(() => {
    call('list', { sort: 'updated_at', limit: 100, touch: false }).then((page) => setSample(page), () => {});
  }, [changes]);
  if (!sample) return html`<${Waiting}/>`;
  const bins = new Array(10).fill(0);
  for (const one of sample.items) bins[Math.min(9, Math.floor(one.confidence * 10))] += 1;
  const most = Math.max(1, ...bins);
  const share = (name) => sample.items.filter((one) => one.verification === name).length / Math.max(1, sample.items.length);
  return html`<p class="quiet small">${sample.has_more ? 'The latest 100 memories' : 'All memories'}, by stated confidence</p>
    <div class="activity low">${bins.map((n, at) => html`<span key=${at} title=${`${at * 10}–${at * 10 + 10} %: ${n}`}>
      <i style=${{ height: `${n ? Math.max(6, (100 * n) / most) : 0}%` }}></i></span>`)}</div>
    <div class="axis small quiet"><span>0</span><span>1</span></div>
    <p class="small quiet">${LEVELS.map(([name]) => `${percent(share(name))} ${name}`).join(' · ')}</p>`;
}

function Health({ status, stats }) {
  if (status.error) return html`<${Failure} ...${status}/>`;
  if (!status.data || !stats) return html`<${Waiting}/>`;
  const { index, watcher, git, findings, warnings } = status.data;
  const applied = Math.min(...['text', 'vectors'].map((name) => Number(index.applied[name] || 0)));
  const behind = Math.max(0, index.generation - applied);
  const living = stats.total - (Object.fromEntries(stats.by_status).deleted || 0);
  const covered = living ? stats.with_vector / living : 1;
  const rows = [
    ['Index', index.to_read + index.to_derive === 0, behind ? `up to date, ${plural(behind, 'change')} overlaid` : 'up to date',
      `${plural(index.to_read + index.to_derive, 'note')} still to read`],
    ['Vectors', covered > 0.99, `${percent(covered)} of notes`, `${percent(covered)} of notes`],
    ['Watcher', watcher.running, 'follows edits as they are saved', 'not running; changes are found at the next look'],
    ['Git', !git.waiting, git.queued ? `${plural(git.queued, 'write')} about to be committed` : 'everything is committed', git.waiting],
    ['Notes', findings.length === 0, 'no findings', plural(findings.length, 'finding')],
  ];
  return html`<ul class="bare health">${rows.map(([name, well, good, bad]) => html`<li key=${name} class=${well ? '' : 'bad'}>
      <b>${name}</b><span>${well ? good : bad}</span></li>`)}</ul>
    ${warnings.length > 0 && html`<p class="small"><a href=${address('maintenance')}>${plural(warnings.length, 'warning')}: look at maintenance</a></p>`}`;
}

function Recent() {
  const { data, error } = useCall('list', { sort: 'updated_at', limit: 8, touch: false });
  if (error) return html`<${Failure} error=${error}/>`;
  if (!data) return html`<${Waiting} rows=${8}/>`;
  return html`<ul class="bare recent">${data.items.map((one) => html`<li key=${one.path}>
    <a href=${address('overview', { ref: one.ref })}>${one.title}</a>
    <${Type} type=${one.memory_type}/><${Status} status=${one.status}/>
    <span class="quiet small by">${one.agent || (one.source === 'human' ? 'by hand' : one.source)}${one.session ? ` · ${one.session.slice(0, 8)}` : ''}</span>
    <span class="quiet small when"><${Ago} time=${one.updated_at}/></span></li>`)}</ul>`;
}
