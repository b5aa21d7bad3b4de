// A difference line by line; long stretches that are the same are folded.
import { html } from '../lib/html.js';
import { lineDiff } from '../lib/format.js';

const AROUND = 3;
const NAMES = { '+': 'added', '-': 'removed', ' ': 'same' };

function folded(lines) {
  const near = new Set();
  lines.forEach(([sign], n) => {
    if (sign !== ' ') for (let at = n - AROUND; at <= n + AROUND; at++) near.add(at);
  });
  const shown = [];
  lines.forEach((line, n) => {
    if (near.has(n)) shown.push(line);
    else if (shown.at(-1)?.[0] !== '…') shown.push(['…', '']);
  });
  return shown;
}

export function Lines({ before, after, lines = lineDiff(before, after) }) {
  const shown = folded(lines);
  if (!lines.some(([sign]) => sign !== ' ')) return html`<p class="quiet">No line differs.</p>`;
  return html`<div class="diff" role="table" aria-label="Differences" tabindex="0">${shown.map(([sign, text], n) => html`<div key=${n} role="row" class=${NAMES[sign] || 'gap'}>
    <span role="cell" class="sign" aria-label=${NAMES[sign] || 'left out'}>${sign}</span><span role="cell">${text || ' '}</span></div>`)}</div>`;
}
