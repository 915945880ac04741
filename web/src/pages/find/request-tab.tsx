import { useState } from 'preact/hooks';
import { session } from '../../api/session.ts';
import { Code } from '../../ui/code.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { findSender, type SnippetName, type SnippetParts, snippets } from './snippets.ts';

const tabs = [
  { name: 'json', label: 'JSON' },
  { name: 'command', label: 'signpost' },
  { name: 'curl', label: 'curl' },
  { name: 'typescript', label: 'TypeScript' },
  { name: 'python', label: 'Python' },
] as const satisfies readonly { name: SnippetName; label: string }[];

const notes: Record<SnippetName, string> = {
  json: 'The body of POST /discover, as a consumer sends it.',
  command: 'Signs, sends, waits for the answer and prints it.',
  curl: 'Signs with OpenSSL 3. The answer comes as on_discover to the address in bapUri.',
  typescript:
    'With signpost-client, which waits for the answer and verifies it. Run it in a project that has the package, or in a clone of Signpost: node discover.mjs',
  python:
    'With examples/python/signpost.py, which waits for the answer and verifies it. Needs the package cryptography; run it in a clone of Signpost: python3 discover.py',
};

export function RequestTab({ query, request }: Omit<SnippetParts, 'sender'>) {
  const [name, setName] = useState<SnippetName>('json');
  const text = snippets[name]({ query, request, sender: findSender(session.value) });
  return (
    <Tabs label="Forms of the request" tabs={tabs} chosen={name} choose={setName}>
      <div class="stack">
        <p class="soft small">{notes[name]}</p>
        <Code text={text} label={`request as ${tabs.find((tab) => tab.name === name)?.label}`} />
      </div>
    </Tabs>
  );
}
