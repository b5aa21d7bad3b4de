// Writes with their way back: run operations one after the other, say what happened, offer Undo.
import { call, operationOf } from './api.js';
import { vaultChanged } from './use.js';
import { complain, say } from '../ui/toast.js';

// A write that changed nothing has no way back: the note's last operation is somebody else's then.
const changed = (answer) => answer.outcome !== 'unchanged';

const wayBack = (named, ref, answer) => operationOf(ref, { revision: answer.revision, named }).catch(() => null);

/** Run one write about `ref`, tell of it with `text`, and return the answer. */
export async function write(operation, given, ref, text) {
  const answer = await call(operation, given);
  vaultChanged();
  const warnings = (answer.warnings || []).join(' ');
  say(warnings ? `${text} ${warnings}` : text, {
    operations: changed(answer) ? [await wayBack(operation, ref, answer)] : [],
  });
  return answer;
}

/** Run one write about several memories, of which `ref` is one, and tell of it. */
export async function writeMany(operation, given, ref, text) {
  await call(operation, given);
  vaultChanged();
  say(text, { operations: [await wayBack(operation, ref, {})] });
}

/** Run `[operation, given, ref]` steps; a step that fails is named and stops nothing. */
export async function writeAll(steps, text) {
  const done = [];
  const failed = [];
  for (const [operation, given, ref] of steps) {
    try {
      const answer = await call(operation, given);
      if (changed(answer)) done.unshift([operation, ref, answer]);
    } catch (error) {
      failed.push(error);
    }
  }
  vaultChanged();
  const operations = [];
  for (const [named, ref, answer] of done) operations.push(await wayBack(named, ref, answer));
  if (done.length) say(text(done.length), { operations });
  if (failed.length) complain(failed[0]);
}
