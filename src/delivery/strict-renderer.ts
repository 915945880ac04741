import { largeBodyBytes } from '../http/large-bodies.ts';
import type { Logger } from '../logger.ts';
import {
  type ProjectText,
  renderStrict,
  type StrictTask,
  type StrictText,
  strictFormUrl,
} from '../rules/strict-form.ts';
import { createThreadPool } from '../thread-pool.ts';
import type { ReceiverForms } from './receiver-forms.ts';

export type StrictRenderer = ReturnType<typeof createStrictRenderer>;

/** One per receiver at a time. */
const threadsAtOnce = { size: 2, perOwner: 1 };
/** Parsing is linear, so it ends; but others wait for it, and a new thread takes most of a second to start. */
const deadlineMs = 60_000;

/** Converts texts into strict form: large ones in a thread, because they must be parsed. */
export function createStrictRenderer(logger: Logger) {
  const threads = createThreadPool({ ...threadsAtOnce, logger });
  return {
    async render(input: StrictTask, owner: string): Promise<StrictText> {
      if (input.json.length < largeBodyBytes) return renderStrict(input);
      return threads.run({ module: strictFormUrl, name: renderStrict.name, input, deadlineMs, owner });
    },
    close: () => threads.close(),
  };
}

export interface FormTools {
  forms: ReceiverForms;
  strict: StrictRenderer;
}

/** How catalogs are rendered for an identity; undefined if it gets them as stored. */
export async function projectionFor(
  { forms, strict }: FormTools,
  identity: string,
): Promise<ProjectText | undefined> {
  if (!(await forms.find(identity)).has('strict')) return undefined;
  return async (shape, text) => (await strict.render({ shape, json: text }, identity)).text ?? text;
}
