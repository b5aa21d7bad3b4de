// Who changed a note, when and why; each version's lines against the one before; and the way back.
import { html, useState } from '../lib/html.js';
import { useCall } from '../lib/use.js';
import { write } from '../lib/write.js';
import { Plan } from '../ui/dialog.js';
import { Lines } from '../ui/lines.js';
import { Ago, Empty, Failure, Waiting } from '../ui/parts.js';

const nameOf = (version) => version.commit || version.revision;

export function History({ memory, readonly }) {
  const { data, error } = useCall('history', { ref: memory.ref, limit: 50 });
  if (error) return html`<${Failure} error=${error}/>`;
  if (!data) return html`<${Waiting}/>`;
  if (!data.versions.length) {
    return html`<${Empty} title="No history yet"><p>Once the note is changed or committed, every version is listed here and can be brought back.</p></${Empty}>`;
  }
  return html`${data.warnings.map((text) => html`<p class="notice">${text}</p>`)}
    <ol class="bare versions">${data.versions.map((version, n) => html`<${Version} key=${`${nameOf(version)}${n}`} memory=${memory} version=${version}
      before=${data.versions[n + 1]} newest=${n === 0} readonly=${readonly}/>`)}</ol>`;
}

function Version({ memory, version, before, newest, readonly }) {
  const [shown, setShown] = useState(newest);
  const [asked, setAsked] = useState(false);
  const who = version.agent || version.author || (version.operation ? 'vault-memory' : 'by hand');
  const bring = () => write('restore', { ref: memory.ref, revision: nameOf(version), if_revision: memory.revision }, memory.ref, 'That version is back.');
  return html`<li><div class="row">
      <b class="grow">${version.summary || version.kind}</b><${Ago} time=${version.when}/></div>
    <p class="small quiet">${who}${version.session ? ` · session ${version.session.slice(0, 12)}` : ''}${version.came_from ? ` · was ${version.came_from}` : ''}</p>
    <div class="row"><button class="small" aria-expanded=${shown} onClick=${() => setShown(!shown)}>${shown ? 'Hide lines' : 'Show lines'}</button>
      ${!newest && !readonly && nameOf(version) && html`<button class="small" onClick=${() => setAsked(true)}>Restore this version</button>`}</div>
    ${shown && html`<${Changes} memory=${memory} version=${version} before=${before}/>`}
    ${asked && html`<${Plan} title="Bring this version back" verb="Restore" danger=${false} close=${() => setAsked(false)} carry=${bring}
      note="The text as it is now becomes a version of its own, so this can be undone.">
      <${Changes} memory=${memory} version=${version} toNow/></${Plan}>`}
  </li>`;
}

/** Lines of a version against the one before it; `toNow`: what bringing it back would change. */
function Changes({ memory, version, before, toNow = false }) {
  const range = toNow ? { since: nameOf(version) } : { since: before ? nameOf(before) : undefined, until: nameOf(version) };
  const { data, error } = useCall('diff', { ref: memory.ref, ...range });
  if (error) return html`<p class="quiet small">${error.message}</p>`;
  if (!data) return html`<${Waiting} rows=${3}/>`;
  const turned = { '+': '-', '-': '+', ' ': ' ' };
  const lines = data.text.split('\n').filter((line) => /^[ +-]/.test(line) && !/^(\+\+\+|---) /.test(line))
    .map((line) => [toNow ? turned[line[0]] : line[0], line.slice(1)]);
  return html`<${Lines} lines=${lines}/>`;
}
