import { useState } from 'preact/hooks';
import { session } from '../../api/session.ts';
import type { FindBody } from '../../search/messages.ts';
import type { FindQuery } from '../../search/query.ts';
import { Code } from '../../ui/code.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { type Sender, type SnippetName, snippets } from './snippets.ts';

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
  curl: 'Signs with OpenSSL 3; consumer.pem has the private key (PKCS 8). The answer comes to the consumer’s address as on_discover.',
  typescript:
    'Node alone, no packages; consumer.pem has the private key (PKCS 8). The answer comes to the consumer’s address as on_discover.',
  python:
    'Needs the package cryptography; consumer.pem has the private key (PKCS 8). The answer comes to the consumer’s address as on_discover.',
};

export function RequestTab({ query, body, request }: { query: FindQuery; body: FindBody; request: unknown }) {
  const [name, setName] = useState<SnippetName>('json');
  const { discovery, consumer } = session.value?.identities ?? {};
  const sender: Sender = {
    url: discovery?.url ?? 'https://discovery.example.org',
    keyId: `${consumer?.id ?? 'consumer.example.org'}|${consumer?.keyId ?? 'key-1'}|ed25519`,
  };
  const text = snippets[name]({ query, request: request ?? body, sender });
  return (
    <Tabs label="Forms of the request" tabs={tabs} chosen={name} choose={setName}>
      <div class="stack">
        <p class="soft small">{notes[name]}</p>
        <Code text={text} label={`request as ${tabs.find((tab) => tab.name === name)?.label}`} />
      </div>
    </Tabs>
  );
}
