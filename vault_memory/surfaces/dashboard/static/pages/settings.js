// Settings: who holds a token, which agents are connected, what is set, and how the pages look.
import { html, useState } from '../lib/html.js';
import { post, remove } from '../lib/api.js';
import { plural, words } from '../lib/format.js';
import { look, theme } from '../lib/theme.js';
import { useCall } from '../lib/use.js';
import { Dialog, Plan } from '../ui/dialog.js';
import { complain, say } from '../ui/toast.js';
import { Ago, Failure, Waiting } from '../ui/parts.js';

export function Settings({ who, leave }) {
  return html`<header class="head"><h1>Settings</h1></header><div class="stack">
    ${who.name ? html`<p class="notice">You are signed in with the token “${who.name}”. Tokens and settings are shown to the owner.</p>`
      : html`<${Tokens} readonly=${who.readonly}/><${Clients}/>`}
    <${Look} who=${who} leave=${leave}/>${!who.name && html`<${Values}/>`}</div>`;
}

function Tokens({ readonly }) {
  const { data, error, again } = useCall('/dashboard/tokens');
  const [made, setMade] = useState(null);
  const [asked, setAsked] = useState(null);
  const revoke = async () => {
    await remove(`/dashboard/tokens/${encodeURIComponent(asked)}`);
    again();
    say(`“${asked}” is refused from now on.`);
  };
  return html`<section class="card"><h2>Tokens</h2>
    <p class="quiet">Each program gets a token of its own. What it writes carries the token's name, and it sees no more than it is bound to.</p>
    ${error ? html`<${Failure} error=${error} again=${again}/>` : !data ? html`<${Waiting} rows=${3}/>`
      : data.items.length > 0 && html`<table class="list"><thead><tr><th>Name</th><th>Sees</th><th>May</th><th>Since</th><td></td></tr></thead>
        <tbody>${data.items.map((one) => html`<tr key=${one.name}><td><b>${one.name}</b></td><td>${seen(one)}</td><td>${one.readonly ? 'read' : 'read and write'}</td>
          <td><${Ago} time=${one.created_at}/></td><td class="end">${!readonly && html`<button class="small danger plain" onClick=${() => setAsked(one.name)}>Revoke</button>`}</td></tr>`)}</tbody></table>`}
    ${data && data.items.length === 0 && html`<p class="quiet">None yet: only your own token opens this vault.</p>`}
    ${!readonly && html`<${Issue} done=${(one) => { setMade(one); again(); }}/>`}
    ${made && html`<${Made} ...${made} close=${() => setMade(null)}/>`}
    ${asked && html`<${Plan} title=${`Revoke “${asked}”`} verb="Revoke" close=${() => setAsked(null)} carry=${revoke}
      lines=${[`whoever holds the token “${asked}” is refused at once, in a browser too`]} note="What it wrote stays. A revoked token does not come back; you can issue another."/>`}</section>`;
}

const seen = ({ project, actor }) => [project ? `project ${project}` : 'every project', actor && `as ${actor}`].filter(Boolean).join(', ');

function Issue({ done }) {
  const empty = { name: '', project: '', actor: '', readonly: false };
  const [form, setForm] = useState(empty);
  const { data } = useCall('stats');
  const set = (name) => (event) => setForm({ ...form, [name]: name === 'readonly' ? event.target.checked : event.target.value });
  const submit = (event) => {
    event.preventDefault();
    const given = Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''));
    post('/dashboard/tokens', given).then((made) => { setForm(empty); done(made); }, complain);
  };
  return html`<form class="issue" onSubmit=${submit}>
    <label class="field"><span>Name</span><input required value=${form.name} onInput=${set('name')} placeholder="laptop, ci, notebook" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" maxlength="64"
      title="letters, digits, dot, hyphen and underscore"/></label>
    <label class="field"><span>Only this project</span><input list="token-projects" value=${form.project} onInput=${set('project')} placeholder="any"/></label>
    <label class="field"><span>Acts for</span><input value=${form.actor} onInput=${set('actor')} placeholder="nobody in particular"/></label>
    <label class="row"><input type="checkbox" checked=${form.readonly} onChange=${set('readonly')}/> reads only</label>
    <button class="main">Issue a token</button>
    <datalist id="token-projects">${(data?.by_project || []).map(([name]) => html`<option key=${name} value=${name}/>`)}</datalist></form>`;
}

function Made({ name, token, close }) {
  const copy = (text) => navigator.clipboard.writeText(text).then(() => say('Copied.'), () => say('The browser keeps the clipboard closed; select the text.'));
  const command = `claude mcp add --transport http memory ${location.origin}/mcp --header "Authorization: Bearer ${token}"`;
  return html`<${Dialog} title=${`The token of “${name}”`} close=${close}><p><b>It is shown only now.</b> The vault keeps no more than its hash.</p>
    <pre class="command secret" tabindex="0">${token}</pre><p class="quiet small">As a header: <code>Authorization: Bearer …</code>. An MCP client, for example:</p><pre class="command" tabindex="0">${command}</pre>
    <form method="dialog" class="row"><button type="button" class="main" onClick=${() => copy(token)}>Copy the token</button><button type="button" onClick=${() => copy(command)}>Copy the command</button>
      <button>Done</button></form></${Dialog}>`;
}

function Clients() {
  const { data, error } = useCall('/dashboard/clients');
  const { data: trail } = useCall('/dashboard/trail', { limit: 1 });
  if (error) return html`<${Failure} error=${error}/>`;
  const here = (one) => one.installed || one.connected || one.problems.length > 0;
  const others = (data?.items || []).filter((one) => !here(one)).map((one) => one.title);
  const writers = (trail?.agents || []).filter(([name]) => name);
  return html`<section class="card"><h2>Coding agents on this machine</h2>
    ${!data ? html`<${Waiting} rows=${5}/>` : html`<table class="list"><tbody>${data.items.filter(here).map((one) => html`<tr key=${one.name + one.project}>
      <td><b>${one.title}</b>${one.project && html`<br/><span class="quiet small mono">${one.project}</span>`}</td>
      <td><span class=${`chip ${one.problems.length ? 'problem' : one.connected ? 'confirmed' : ''}`}>${one.connected ? 'connected' : 'not connected'}</span></td>
      <td>${one.problems.length ? one.problems.map((each) => html`<p>${each.what}. <span class="quiet">${each.fix}</span></p>`)
        : !one.connected && html`<code>vault-memory connect ${one.name}</code>`}</td></tr>`)}</tbody></table>
      <p class="quiet small">${others.length > 0 && `Not on this machine: ${others.join(', ')}. `}Programs elsewhere connect to <code>${location.origin}/mcp</code> with a token.</p>`}
    ${writers.length > 0 && html`<h3>Who has written here</h3><ul class="bare writers">${writers.map(([name, n, last]) => html`<li key=${name}><b>${name}</b>
      <span class="quiet">${plural(n, 'write')}, last <${Ago} time=${last}/></span></li>`)}</ul>`}</section>`;
}

function Look({ who, leave }) {
  const [now, setNow] = useState(theme());
  const names = { '': 'as the system', light: 'light', dark: 'dark' };
  return html`<section class="card"><h2>This browser</h2><div class="row" role="radiogroup" aria-label="Colours"><span>Colours</span>${Object.entries(names).map(([value, name]) => html`
    <label class="row choice" key=${value}><input type="radio" name="theme" checked=${now === value} onChange=${() => { look(value); setNow(value); }}/> ${name}</label>`)}</div>
    <p class="quiet">Signed in ${who.name ? `with the token “${who.name}”` : 'as the owner'}${who.readonly ? ', reading only' : ''}. <button class="small" onClick=${leave}>Sign out</button></p></section>`;
}

const text = (value) => (value === null || value === '' ? '–' : Array.isArray(value) ? value.join(', ') || '–' : typeof value === 'object'
  ? Object.entries(value).map(([key, item]) => `${key}: ${item}`).join(', ') || '–' : String(value));

function Values() {
  const { data, error } = useCall('/dashboard/settings');
  const [all, setAll] = useState(false);
  if (error) return html`<${Failure} error=${error}/>`;
  if (!data) return html`<${Waiting}/>`;
  const shown = data.items.filter((one) => all || one.changed);
  const sections = [...new Set(shown.map((one) => one.section))];
  return html`<section class="card"><h2>What is set</h2><p class="quiet">From your own settings, the vault's <code>.vault-memory/config.toml</code> and the environment. The server reads them
      when it starts.</p><label class="row choice"><input type="checkbox" checked=${all} onChange=${() => setAll(!all)}/> with those that nobody set</label>
    ${sections.length === 0 && html`<p>Everything is as it comes.</p>`}
    ${sections.map((section) => html`<table class="list values" key=${section}><caption>${words(section)}</caption><tbody>${shown.filter((one) => one.section === section).map((one) => html`
      <tr key=${one.name}><th scope="row">${words(one.name)}</th><td>${one.changed ? html`<b>${text(one.value)}</b>` : text(one.value)}</td>
        <td class="quiet small">${one.changed ? `as it comes: ${text(one.default)}` : ''}</td></tr>`)}</tbody></table>`)}</section>`;
}
