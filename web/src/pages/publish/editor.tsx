import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Fault } from '../../../../src/console/answers/publish.ts';
import { notify } from '../../ui/toasts.tsx';
import { makeExample } from './example.ts';

interface EditorProps {
  text: string;
  change(text: string): void;
  faults: readonly Fault[];
  warnings: readonly Fault[];
  goTo?: { line: number; column?: number };
}

/** A text area with line numbers; a line with a fault has a mark and its message. */
export function Editor({ text, change, faults, warnings, goTo }: EditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const [over, setOver] = useState(false);
  const lines = text.split('\n').length;
  const marks = marksOf(faults, warnings);
  useLayoutEffect(() => {
    if (goTo && area.current) moveTo(area.current, goTo);
  }, [goTo]);
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    change(await file.text());
    notify(`${file.name} is in the editor.`);
  };
  return (
    <section class="editor-panel" aria-label="Catalog">
      <div class="row editor-tools">
        <label class="button">
          Choose a file
          <input
            type="file"
            class="hidden"
            accept=".json,application/json"
            onChange={(event) => void take(event.currentTarget.files?.[0])}
          />
        </label>
        <button type="button" onClick={() => change(makeExample())}>
          Insert an example
        </button>
        {text !== '' && (
          <button type="button" class="quiet" onClick={() => change('')}>
            Clear
          </button>
        )}
      </div>
      <div class={over ? 'editor over' : 'editor'}>
        <Gutter lines={lines} scrolled={scrolled} marks={marks} />
        <textarea
          ref={area}
          aria-label="Catalog as JSON"
          aria-describedby="faults"
          aria-invalid={faults.length > 0}
          spellcheck={false}
          wrap="off"
          placeholder="Paste a catalog or drop a file here."
          value={text}
          onInput={(event) => change(event.currentTarget.value)}
          onScroll={(event) => setScrolled(event.currentTarget.scrollTop)}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            void take(event.dataTransfer?.files[0]);
          }}
        />
      </div>
    </section>
  );
}

/** Only the visible numbers: a catalog may have a hundred thousand lines. */
function Gutter({ lines, scrolled, marks }: { lines: number; scrolled: number; marks: Map<number, Mark> }) {
  const height = lineHeightRem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const first = Math.floor(scrolled / height);
  const shown = Math.min(linesInView, Math.max(0, lines - first));
  return (
    <div class="gutter" aria-hidden="true">
      <div style={{ transform: `translateY(${first * height - scrolled}px)` }}>
        {Array.from({ length: shown }, (_, index) => {
          const line = first + index + 1;
          const mark = marks.get(line);
          return (
            <span key={line} class={mark?.kind} title={mark?.message}>
              {line}
            </span>
          );
        })}
      </div>
    </div>
  );
}

/** The same as in publish.css. */
const lineHeightRem = 1.3;
const linesInView = 120;

interface Mark {
  kind: 'faulty' | 'doubtful';
  message: string;
}

/** One mark per line; a fault hides a warning. */
function marksOf(faults: readonly Fault[], warnings: readonly Fault[]): Map<number, Mark> {
  const of = (kind: Mark['kind'], list: readonly Fault[]) =>
    list.flatMap(({ line, message }) => (line === undefined ? [] : [[line, { kind, message }] as const]));
  return new Map([...of('doubtful', warnings), ...of('faulty', faults)]);
}

function moveTo(area: HTMLTextAreaElement, { line, column = 1 }: { line: number; column?: number }): void {
  const before = area.value.split('\n').slice(0, line - 1);
  const start = before.reduce((sum, text) => sum + text.length + 1, 0);
  const end = start + (area.value.slice(start).split('\n')[0]?.length ?? 0);
  area.focus();
  area.setSelectionRange(Math.min(end, start + column - 1), end);
  const height = Number.parseFloat(getComputedStyle(area).lineHeight);
  area.scrollTop = Math.max(0, (line - 4) * height);
}
