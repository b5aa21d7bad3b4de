// Overview: how much there is, how it is doing, and what happened lately.
import { html } from '../lib/html.js';
import { address } from '../lib/router.js';
import { count, percent, plural, words } from '../lib/format.js';
import { useCall } from '../lib/use.js';
import { Ago, Bars, Empty, Failure, Status, Type, Waiting } from '../ui/parts.js';

export function Overview() {
  const stats = useCall('stats');
  const status = useCall('status');
  if (stats.error) return html`<${Failure} ...${stats}/>`;
  if (stats.data && stats.data.total === 0) return html`<${FirstSteps}/>`;
  const section = (title, counts, filter, label = (name) => name) => html`<section class="card"><h2>${title}</h2>${counts
    ? html`<${Bars} counts=${counts} label=${label} limit=${7} to=${(name) => address('memories', { [filter]: name })}/>` : html`<${Waiting} rows=${7}/>`}</section>`;
  return html`<header class="head"><h1>Overview</h1><span class="quiet mono" title=${status.data?.root}>${status.data ? status.data.root.split('/').pop() : ''}</span></header>
    <div class="stack">
      <${Figures} stats=${stats.data}/>
      <div class="columns">
        <section class="card"><h2>Last 30 days</h2><${Activity} stats=${stats.data}/></section>
        <section class="card"><h2>Health</h2><${Health} status=${status} stats=${stats.data}/></section>
      </div>
      <div class="columns thirds">
        ${section('Kinds', stats.data?.by_type, 'type', words)}
        ${section('Projects', stats.data?.by_project, 'project')}
        <section class="card"><h2>Confidence</h2><${Confidence} stats=${stats.data}/></section>
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

const dayName = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Columns as high as their numbers, each `[key, name, n, address]`. */
function Columns({ columns, low = false }) {
  const most = Math.max(1, ...columns.map(([, , n]) => n));
  return html`<div class=${low ? 'activity low' : 'activity'}>${columns.map(([key, name, n, to]) => html`<a key=${key} href=${to} title=${`${name}: ${n}`} aria-label=${`${name}: ${n}`}>
    <i style=${{ height: `${n ? Math.max(4, (100 * n) / most) : 0}%` }}></i></a>`)}</div>`;
}

function Activity({ stats }) {
  if (!stats) return html`<${Waiting} rows=${5}/>`;
  const days = stats.by_day.map(([day, n]) => {
    const from = new Date(`${day}T00:00:00Z`);
    const to = new Date(from.getTime() + 86_400_000);
    return [day, dayName.format(from), n, address('timeline', { after: from.toISOString(), before: to.toISOString() })];
  });
  const total = days.reduce((sum, [, , n]) => sum + n, 0);
  return html`<p class="quiet small">${plural(total, 'memory', 'memories')} written or last changed, most on one day: ${count(Math.max(...days.map(([, , n]) => n)))}</p>
    <${Columns} columns=${days}/><div class="axis small quiet"><span>${days[0][1]}</span><span>today</span></div>`;
}

function Confidence({ stats }) {
  if (!stats) return html`<${Waiting} rows=${5}/>`;
  const bins = stats.by_confidence.map((n, at) => [at, `${at * 10} to ${at * 10 + 10} %`, n, address('memories')]);
  const all = Math.max(1, stats.by_verification.reduce((sum, [, n]) => sum + n, 0));
  return html`<p class="quiet small">How sure each memory says it is</p><${Columns} columns=${bins} low/>
    <div class="axis small quiet"><span>0 %</span><span>100 %</span></div>
    <p class="small quiet verified">${stats.by_verification.map(([name, n]) => `${percent(n / all)} ${name}`).join(' · ')}</p>`;
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
    ['Watcher', watcher.running && watcher.mode !== 'polling', 'follows edits as they are saved',
      watcher.running ? `${watcher.mode}: ${watcher.detail}` : 'not running; changes are found at the next look'],
    ['Git', !git.waiting, git.queued ? `${plural(git.queued, 'write')} about to be committed` : 'everything is committed', git.waiting],
    ['Notes', findings.length === 0, 'no findings', html`<a href=${address('review')}>${plural(findings.length, 'finding')}</a>`],
    ['Lifetime', stats.expired === 0, 'nothing has expired', html`<a href=${address('review')}>${plural(stats.expired, 'memory has', 'memories have')} expired</a>`],
  ];
  const others = warnings.filter((text) => !text.includes('findings about notes'));
  return html`<ul class="bare health">${rows.map(([name, well, good, bad]) => html`<li key=${name} class=${well ? '' : 'bad'}>
      <b>${name}</b><span>${well ? good : bad}</span></li>`)}</ul>
    ${others.length > 0 && html`<p class="small"><a href=${address('maintenance')}>${plural(others.length, 'warning')}: look at maintenance</a></p>`}`;
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
