// Graph: memories as nodes, relations and links as lines; drag, zoom, filter, inspect, and draw new relations.
import { html, useEffect, useMemo, useRef, useState } from '../lib/html.js';
import { change, open } from '../lib/router.js';
import { plural, words } from '../lib/format.js';
import { colours, draw, fitted, nodeAt, simulate } from '../lib/layout.js';
import { useCall, useKeys } from '../lib/use.js';
import { write } from '../lib/write.js';
import { Plan } from '../ui/dialog.js';
import { Empty, Failure, Type, Waiting } from '../ui/parts.js';
import { TYPES } from '../record/relations.js';

export function Graph({ query, who }) {
  const { data, error } = useCall('graph', { project: query.project, domain: query.domain, limit: 1500 });
  const { data: stats } = useCall('stats');
  const [linking, setLinking] = useState(false);
  const [pair, setPair] = useState(null);
  useKeys((event) => event.key === 'l' && !who.readonly && setLinking((old) => !old));
  const types = useMemo(() => (data ? [...new Set(data.nodes.map((node) => node.memory_type))].sort() : []), [data]);
  const pick = (name, label, counts) => html`<select aria-label=${label} value=${query[name] || ''} onChange=${(event) => change({ [name]: event.target.value })}>
    <option value="">${label}</option>${(counts || []).map(([value]) => html`<option key=${value} value=${value}>${value}</option>`)}</select>`;
  return html`<header class="head"><h1>Graph</h1>
      <span class="quiet small">${data ? `${plural(data.nodes.length, 'memory', 'memories')}, ${plural(data.edges.length, 'line')}${data.truncated ? ' (more exist; choose a project)' : ''}` : ''}</span></header>
    <div class="row filters">${pick('project', 'Any project', stats?.by_project)}${pick('domain', 'Any domain', stats?.by_domain)}
      ${pick('type', 'Any type', types.map((name) => [name]))}
      <input type="search" aria-label="Find in the graph" placeholder="Find" value=${query.find || ''} onInput=${(event) => change({ find: event.target.value }, true)}/>
      ${!who.readonly && html`<button class=${linking ? 'main small' : 'small'} aria-pressed=${linking} onClick=${() => setLinking(!linking)}>Link mode <kbd>l</kbd></button>`}</div>
    ${error ? html`<${Failure} error=${error}/>` : !data ? html`<${Waiting} rows=${12}/>`
      : data.nodes.length === 0 ? html`<${Empty} title="No graph yet"><p>Every memory is a point. Relations and [[links]] between notes become lines.</p></${Empty}>`
      : html`<${Canvas} data=${data} query=${query} linking=${linking} connect=${(from, to) => setPair({ from, to })}/>`}
    <div class="legend">${types.map((type) => html`<${Type} key=${type} type=${type}/>`)}</div>
    ${pair && html`<${Connect} ...${pair} close=${() => setPair(null)}/>`}`;
}

function Connect({ from, to, close }) {
  const [type, setType] = useState(TYPES[0]);
  return html`<${Plan} title="New relation" verb="Create" danger=${false} close=${close} lines=${[`${from.title} ${words(type)} ${to.title}`]}
    carry=${() => write('relate', { from_ref: from.ref, to_ref: to.ref, relation_type: type }, from.ref, 'Relation created.')}>
    <label class="field"><span>Relation</span><select value=${type} onChange=${(event) => setType(event.target.value)}>${TYPES.map((name) => html`
      <option key=${name} value=${name}>${words(name)}</option>`)}</select></label></${Plan}>`;
}

function Canvas({ data, query, linking, connect }) {
  const canvas = useRef();
  const [hint, setHint] = useState('');
  const scene = useRef({ places: new Map(), view: null, moved: false }).current;
  const latest = useRef();
  const find = (query.find || '').toLowerCase();
  latest.current = {
    linking, connect, focused: query.ref, hint: setHint,
    shown: (node) => (!query.type || node.memory_type === query.type) && (!find || node.title.toLowerCase().includes(find)),
  };
  const key = JSON.stringify(data);
  useEffect(() => run(canvas.current, scene, data, latest), [key]);
  useEffect(() => scene.repaint?.(), [query.type, query.ref, find]);
  const zoom = (factor) => scene.zoom(factor);
  return html`<div class=${linking ? 'graph linking' : 'graph'}><canvas ref=${canvas} tabindex="0" aria-label="Graph of memories; the Memories page lists the same"
      onKeyDown=${(event) => ({ '+': () => zoom(1.3), '-': () => zoom(1 / 1.3), 0: () => scene.fit() })[event.key]?.()}></canvas>
    <div class="zoom"><button class="small" aria-label="Zoom in" onClick=${() => zoom(1.3)}>+</button><button class="small" aria-label="Zoom out" onClick=${() => zoom(1 / 1.3)}>−</button>
      <button class="small" onClick=${() => scene.fit()}>Fit</button></div>
    <div class="hint">${hint || (linking ? 'Drag from one memory to another to relate them' : 'Drag to move, wheel to zoom, click to open')}</div></div>`;
}

/** Give the canvas its life; returns what ends it. */
function run(canvas, scene, data, latest) {
  const context = canvas.getContext('2d');
  let asked = 0;
  const size = { width: 0, height: 0, ratio: 1 };
  const paint = () => {
    asked = 0;
    if (!scene.moved) scene.view = fitted(world.nodes, size.width, size.height);
    const focus = scene.hover || world.nodes.find((node) => node.ref === latest.current.focused);
    draw(context, { ...world, view: scene.view, size, colour: colours(canvas), shown: latest.current.shown, focus, drawing: scene.drawing });
    canvas.dataset.settled = world.simulation.alpha() < 0.05 ? 'yes' : 'no';
  };
  const repaint = () => { asked ||= requestAnimationFrame(paint); };
  const world = simulate(data.nodes, data.edges, scene.places, repaint);
  const resized = new ResizeObserver(() => {
    Object.assign(size, { width: canvas.clientWidth, height: canvas.clientHeight, ratio: devicePixelRatio || 1 });
    canvas.width = size.width * size.ratio;
    canvas.height = size.height * size.ratio;
    repaint();
  });
  resized.observe(canvas);
  canvas.placeOf = (title) => { // for those who must point at a node without seeing it
    const node = world.nodes.find((one) => one.title === title);
    return node && [scene.view.x + scene.view.k * node.x, scene.view.y + scene.view.k * node.y];
  };
  Object.assign(scene, { repaint, nodes: world.nodes, fit: () => { scene.moved = false; repaint(); } });
  const release = handle(canvas, scene, world, latest, repaint, size);
  return () => {
    for (const node of world.nodes) scene.places.set(node.ref, { x: node.x, y: node.y });
    world.simulation.stop();
    resized.disconnect();
    release();
    cancelAnimationFrame(asked);
  };
}

function handle(canvas, scene, world, latest, repaint, size) {
  const shown = () => world.nodes.filter(latest.current.shown);
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: (event.clientX - box.left - scene.view.x) / scene.view.k, y: (event.clientY - box.top - scene.view.y) / scene.view.k };
  };
  const under = (event) => { const at = point(event); return nodeAt(shown(), at.x, at.y, 6 / scene.view.k); };
  let held = null;
  const zoomAt = (factor, x, y) => {
    const k = Math.min(6, Math.max(0.08, scene.view.k * factor));
    const by = k / scene.view.k;
    scene.view = { k, x: x - by * (x - scene.view.x), y: y - by * (y - scene.view.y) };
    scene.moved = true;
    repaint();
  };
  scene.zoom = (factor) => zoomAt(factor, size.width / 2, size.height / 2);
  const on = {
    pointerdown: (event) => {
      canvas.setPointerCapture(event.pointerId);
      held = { node: under(event), x: event.clientX, y: event.clientY, view: { ...scene.view }, far: false };
      if (held.node && latest.current.linking) scene.drawing = { from: held.node, to: point(event) };
    },
    pointermove: (event) => {
      if (!held) { hover(under(event)); return; }
      held.far ||= Math.hypot(event.clientX - held.x, event.clientY - held.y) > 4;
      if (held.far) drag(event);
    },
    pointerup: (event) => {
      const { node, far } = held || {};
      const end = under(event);
      const drawn = scene.drawing;
      if (node && !drawn) { node.fx = node.fy = null; world.simulation.alphaTarget(0); }
      [held, scene.drawing] = [null, null];
      if (drawn && end && end !== node) latest.current.connect(node, end);
      else if (node && !far) open(node.ref);
      repaint();
    },
    pointercancel: () => { held = scene.drawing = null; },
    wheel: (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoomAt(Math.exp(-event.deltaY * 0.0016), event.clientX - box.left, event.clientY - box.top);
    },
  };
  const hover = (node) => {
    if (node === scene.hover) return;
    scene.hover = node;
    latest.current.hint(node ? `${node.title} · ${words(node.memory_type)}` : '');
    repaint();
  };
  const drag = (event) => {
    if (scene.drawing) {
      scene.drawing.to = under(event) || point(event);
      repaint();
    } else if (held.node) {
      [held.node.fx, held.node.fy] = Object.values(point(event));
      scene.moved = true;
      world.simulation.alphaTarget(0.2).restart();
    } else {
      scene.view = { ...held.view, x: held.view.x + event.clientX - held.x, y: held.view.y + event.clientY - held.y };
      scene.moved = true;
      repaint();
    }
  };
  for (const [name, listener] of Object.entries(on)) canvas.addEventListener(name, listener, { passive: false });
  return () => Object.entries(on).forEach(([name, listener]) => canvas.removeEventListener(name, listener));
}
