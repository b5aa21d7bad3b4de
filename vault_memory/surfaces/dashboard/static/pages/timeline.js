// Timeline: memories by the day on which they were last changed or made, newest first.
import { html } from '../lib/html.js';
import { address, change } from '../lib/router.js';
import { plural } from '../lib/format.js';
import { useCall } from '../lib/use.js';
import { Empty, Failure, Status, Type, Waiting } from '../ui/parts.js';

const PAGE = 50;
const dayName = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

function byDay(items, field) {
  const days = new Map();
  for (const one of items) {
    const day = dayName.format(new Date(one[field]));
    days.set(day, [...(days.get(day) || []), one]);
  }
  return [...days];
}

export function Timeline({ query }) {
  const field = query.by === 'created' ? 'created_at' : 'updated_at';
  const name = field.replace('_at', '');
  const offset = Number(query.offset) || 0;
  const { data, error } = useCall('list', {
    sort: field, limit: PAGE, offset, touch: false, [`${name}_after`]: query.after, [`${name}_before`]: query.before,
  });
  return html`<header class="head"><h1>Timeline</h1><span class="quiet small">${data ? plural(data.total, 'memory', 'memories') : ''}</span>
      <select aria-label="Order by" value=${query.by || 'changed'} onChange=${(event) => change({ by: event.target.value, offset: undefined })}>
        <option value="changed">by last change</option><option value="created">by creation</option></select>
      ${query.after && html`<button class="small" onClick=${() => change({ after: undefined, before: undefined, offset: undefined })}>All days</button>`}</header>
    ${error ? html`<${Failure} error=${error}/>` : !data ? html`<${Waiting} rows=${10}/>`
      : data.items.length === 0 ? html`<${Empty} title="Nothing in this time"><p>Other days may have more.</p></${Empty}>`
      : html`<div class="days">${byDay(data.items, field).map(([day, items]) => html`<section key=${day}><h2>${day}</h2>
          <ul class="bare recent">${items.map((one) => html`<li key=${one.path}><a href=${address('timeline', { ...query, ref: one.ref })}>${one.title}</a>
            <${Type} type=${one.memory_type}/><${Status} status=${one.status}/>
            <span class="quiet small by">${one.agent || one.source}</span><span class="quiet small when">${clock.format(new Date(one[field]))}</span></li>`)}</ul></section>`)}</div>`}
    <div class="row">${offset > 0 && html`<button onClick=${() => change({ offset: Math.max(0, offset - PAGE) || undefined })}>Newer</button>`}
      ${data?.has_more && html`<button onClick=${() => change({ offset: offset + PAGE })}>Older</button>`}</div>`;
}
