// Words and numbers as people read them. Pure.

const UNITS = [['year', 31557600], ['month', 2629800], ['week', 604800], ['day', 86400], ['hour', 3600], ['minute', 60]];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const dated = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

export function ago(time, now = Date.now()) {
  if (!time) return '';
  const seconds = (new Date(time).getTime() - now) / 1000;
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  return unit ? relative.format(Math.round(seconds / unit[1]), unit[0]) : 'just now';
}

export const moment = (time) => (time ? dated.format(new Date(time)) : '');
export const words = (name) => String(name).replaceAll('_', ' ');
export const count = (n) => Number(n).toLocaleString('en');
export const percent = (part) => `${Math.round(100 * part)} %`;
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

const HUES = {
  note: 210, fact: 165, preference: 320, identity: 290, event: 45, decision: 255, instruction: 20, checkpoint: 130,
  anti_pattern: 5, reasoning: 275, handoff: 60, interaction: 190, summary: 225, observation: 150, anchor: 80,
};

/** The hue of a type: chosen for the common ones, steady for all others. */
export function hue(type) {
  if (type in HUES) return HUES[type];
  let sum = 0;
  for (const letter of String(type)) sum = (sum * 31 + letter.codePointAt(0)) % 360;
  return sum;
}

/** Text cut into `[text, marked]` pieces by spans of characters (code points, as the server counts). */
export function pieces(text, marks) {
  const letters = Array.from(text);
  const found = [];
  let at = 0;
  for (const [start, end] of marks) {
    if (start > at) found.push([letters.slice(at, start).join(''), false]);
    found.push([letters.slice(start, end).join(''), true]);
    at = end;
  }
  if (at < letters.length) found.push([letters.slice(at).join(''), false]);
  return found;
}

/** The first words of a note, without Markdown's signs. */
export function excerpt(content, length = 180) {
  const plain = content.replace(/^#+\s+.*$/gm, ' ').replace(/[*_`>#[\]|]+/g, '').replace(/\s+/g, ' ').trim();
  return plain.length > length ? `${plain.slice(0, length).replace(/\s\S*$/, '')}…` : plain;
}

/** Lines of `after` against `before` as `[sign, text]`: the longest common part stays, all else is removed or added. */
export function lineDiff(before, after) {
  const a = before.split('\n');
  const b = after.split('\n');
  if (a.length * b.length > 4e6) return [...a.map((line) => ['-', line]), ...b.map((line) => ['+', line])];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j;
      common[at] = a[i] === b[j] ? common[at + width + 1] + 1 : Math.max(common[at + width], common[at + 1]);
    }
  }
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) lines.push([' ', a[i++]]) && j++;
    else if (j >= b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) lines.push(['-', a[i++]]);
    else lines.push(['+', b[j++]]);
  }
  return lines;
}
