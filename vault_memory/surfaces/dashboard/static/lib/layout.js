// Where the nodes of a graph go, and what is drawn: forces and a canvas, without a library's own canvas. Knows no server.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from '../vendor/d3-force.js';
import { hue } from './format.js';

const LABELS_FROM = 1.1;

/** Put nodes into motion; old places are kept by ref so that a live change does not shuffle the picture. */
export function simulate(nodes, edges, places, tick) {
  const degree = new Map();
  for (const { source, target } of edges) for (const end of [source, target]) degree.set(end, (degree.get(end) || 0) + 1);
  const made = nodes.map((node) => ({ ...node, degree: degree.get(node.ref) || 0, ...places.get(node.ref) }));
  for (const node of made) node.r = 4 + Math.min(9, 1.6 * Math.sqrt(node.degree));
  const links = edges.map((edge) => ({ ...edge }));
  const simulation = forceSimulation(made)
    .force('link', forceLink(links).id((node) => node.ref).distance(60).strength(0.35))
    .force('charge', forceManyBody().strength(-90).distanceMax(420))
    .force('collide', forceCollide((node) => node.r + 3))
    .force('x', forceX().strength(0.06)).force('y', forceY().strength(0.075))
    .alpha(places.size ? 0.3 : 1).alphaDecay(made.length > 400 ? 0.045 : 0.03).on('tick', tick);
  return { simulation, nodes: made, links };
}

export function nodeAt(nodes, x, y, slack) {
  let best = null;
  let least = Infinity;
  for (const node of nodes) {
    const distance = Math.hypot(node.x - x, node.y - y);
    if (distance < node.r + slack && distance < least) [best, least] = [node, distance];
  }
  return best;
}

/** The zoom and shift with which all nodes fit into the space. */
export function fitted(nodes, width, height) {
  if (!nodes.length) return { k: 1, x: width / 2, y: height / 2 };
  const xs = nodes.map((node) => node.x);
  const ys = nodes.map((node) => node.y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const k = Math.min(2, 0.86 * Math.min(width / (right - left + 60), height / (bottom - top + 60)));
  return { k, x: width / 2 - (k * (left + right)) / 2, y: height / 2 - (k * (top + bottom)) / 2 };
}

export function colours(element) {
  const style = getComputedStyle(element);
  const role = (name) => style.getPropertyValue(name).trim();
  return { ink: role('--ink'), quiet: role('--ink-3'), line: role('--line-2'), accent: role('--accent'), sheet: role('--sheet'),
    l: role('--dot-l'), c: role('--dot-c'), bad: role('--bad'), font: role('--sans') };
}

const strong = (edge) => edge.relation_type !== null;

export function draw(context, { nodes, links, view, size, colour, shown, focus, drawing }) {
  context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  context.translate(view.x, view.y);
  context.scale(view.k, view.k);
  drawLinks(context, links, shown, colour, view, focus);
  if (drawing) line(context, drawing.from, drawing.to, colour.accent, 2 / view.k);
  for (const node of nodes) if (shown(node)) drawNode(context, node, colour, focus);
  drawLabels(context, nodes.filter(shown), view, colour, focus);
}

function drawLinks(context, links, shown, colour, view, focus) {
  for (const typed of [false, true]) {
    context.beginPath();
    context.strokeStyle = typed ? colour.quiet : colour.line;
    context.lineWidth = (typed ? 1.4 : 0.9) / Math.sqrt(view.k);
    for (const edge of links) {
      if (strong(edge) !== typed || !shown(edge.source) || !shown(edge.target)) continue;
      context.moveTo(edge.source.x, edge.source.y);
      context.lineTo(edge.target.x, edge.target.y);
    }
    context.stroke();
  }
  for (const edge of links) if (focus && (edge.source === focus || edge.target === focus)) line(context, edge.source, edge.target, edge.relation_type === 'contradicts' ? colour.bad : colour.accent, 2 / view.k);
}

function line(context, from, to, style, width) {
  context.beginPath();
  context.strokeStyle = style;
  context.lineWidth = width;
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
  context.stroke();
}

function drawNode(context, node, colour, focus) {
  context.beginPath();
  context.globalAlpha = node.status === 'active' ? 1 : 0.45;
  context.fillStyle = `oklch(${colour.l} ${colour.c} ${hue(node.memory_type)})`;
  context.arc(node.x, node.y, node.r, 0, 2 * Math.PI);
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = node === focus ? colour.ink : colour.sheet;
  context.lineWidth = node === focus ? 2 : 1.2;
  context.stroke();
}

/** Titles, those with most lines first; one that would cover another is left out until there is room. */
function drawLabels(context, nodes, view, colour, focus) {
  const many = nodes.length > 60;
  context.font = `${12 / view.k}px ${colour.font}`;
  context.textAlign = 'center';
  context.fillStyle = colour.ink;
  context.strokeStyle = colour.sheet;
  context.lineWidth = 3 / view.k;
  const taken = [];
  const ordered = [...nodes].sort((a, b) => (b === focus) - (a === focus) || b.degree - a.degree);
  for (const node of ordered) {
    if (node !== focus && many && view.k < LABELS_FROM && node.degree < 8) continue;
    const text = node.title.length > 34 ? `${node.title.slice(0, 32)}…` : node.title;
    const box = { x: node.x, y: node.y + node.r + 13 / view.k, w: (text.length * 6.6) / view.k, h: 13 / view.k };
    if (taken.some((other) => Math.abs(other.x - box.x) < (other.w + box.w) / 2 && Math.abs(other.y - box.y) < box.h)) continue;
    taken.push(box);
    context.strokeText(text, box.x, box.y);
    context.fillText(text, box.x, box.y);
  }
}
