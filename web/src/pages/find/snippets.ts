import type { Session } from '../../api/session.ts';
import { buildExpression, pageSize } from '../../search/intent.ts';
import { type FindQuery, isEmpty } from '../../search/query.ts';

/** The request as a program in several languages, sent as this network's consumer. With the key and addresses of the demo, each runs unchanged. */
export type SnippetName = 'json' | 'command' | 'curl' | 'typescript' | 'python';
export interface Sender {
  url: string;
  registryUrl: string;
  id: string;
  keyId: string;
  keyFile: string;
}
export interface SnippetParts {
  query: FindQuery;
  request: Request;
  sender: Sender;
}
/** The whole body of a discover if the console has answered; until then, only its message. */
interface Request {
  message: { intent: object };
}

export const snippets: Record<SnippetName, (parts: SnippetParts) => string> = {
  json: ({ request }) => pretty(request),
  command: ({ query, request, sender }) => command(query) ?? commandWithFile(request, sender),
  curl: ({ request, sender }) => curl(request, sender),
  typescript,
  python,
};

/** The consumer of this network, with example values for unknown ones. */
export function findSender(session: Partial<Pick<Session, 'identities' | 'registryUrl'>> = {}): Sender {
  const { consumer, discovery } = session.identities ?? {};
  return {
    url: discovery?.url ?? 'https://discovery.example.org',
    registryUrl: session.registryUrl ?? 'https://registry.example.org/dedi',
    id: consumer?.id ?? 'consumer.example.org',
    keyId: consumer?.keyId ?? 'key-1',
    keyFile: consumer?.keyFile ?? 'consumer.seed',
  };
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** `signpost discover` has options for words, a circle and a filter; other shapes are sent as a file. */
function command(query: FindQuery): string | undefined {
  const { text, area, network, offset } = query;
  if (area?.kind === 'polygon') return undefined;
  const expression = isEmpty(query) ? '$.catalogs[*].resources[*]' : buildExpression(query);
  const parts = [
    `npx signpost discover${text.trim() === '' ? '' : ` ${quote(text.trim())}`}`,
    ...(area ? [`--near ${area.latitude},${area.longitude} --within ${area.meters}m`] : []),
    ...(expression === undefined ? [] : [`--where ${quote(expression)}`]),
    ...(network === '' ? [] : [`--network ${quote(network)}`]),
    `--limit ${pageSize}${offset > 0 ? ` --offset ${offset}` : ''}`,
  ];
  return parts.join(' \\\n  ');
}

function commandWithFile(request: Request, { url, id }: Sender): string {
  return `cat > discover.json <<'EOF'\n${pretty(request)}\nEOF\nnpx signpost send discover.json --to ${quote(url)} --as ${quote(id)} --wait`;
}

/** OpenSSL reads a seed after the 16-byte header of PKCS 8. */
function curl(request: Request, { url, id, keyId, keyFile }: Sender): string {
  return `cat > body.json <<'EOF'
${pretty(request)}
EOF
printf %s "$(cat body.json)" > body.raw    # the signed bytes: no newline at the end
(umask 077; { printf '\\060\\056\\002\\001\\000\\060\\005\\006\\003\\053\\145\\160\\004\\042\\004\\040'; base64 -d ${quote(keyFile)}; } > key.der)
created=$(date +%s); expires=$((created + 300))
digest=$(openssl dgst -blake2b512 -binary body.raw | base64 -w0)
printf '(created): %s\\n(expires): %s\\ndigest: BLAKE-512=%s' $created $expires "$digest" > signing.txt
signature=$(openssl pkeyutl -sign -rawin -inkey key.der -keyform DER -in signing.txt | base64 -w0)
curl ${quote(`${url}/discover`)} --data-binary @body.raw -H 'content-type: application/json' \\
  -H "authorization: Signature keyId=\\"${id}|${keyId}|ed25519\\",algorithm=\\"ed25519\\",created=\\"$created\\",expires=\\"$expires\\",headers=\\"(created) (expires) digest\\",signature=\\"$signature\\""
rm key.der`;
}

function typescript({ query: { network }, request, sender }: SnippetParts): string {
  const { url, registryUrl, id, keyId, keyFile } = sender;
  const options = { pageSize, ...(network !== '' && { networkId: network }) };
  return `import { readFileSync } from 'node:fs';
import { Signpost } from 'signpost-client';

const signpost = new Signpost({
  id: ${literal(id)},
  keyId: ${literal(keyId)},
  privateKey: readFileSync(${literal(keyFile)}, 'utf8'),
  registry: ${literal(registryUrl)},
  discoveryService: ${literal(url)},
});
await signpost.listen(); // the answer comes to a free port of this machine
const intent = ${pretty(request.message.intent)};
for await (const { resource, offers, catalog } of signpost.discover(intent, ${JSON.stringify(options)}))
  console.log(resource.descriptor?.name ?? resource.id, offers.length, catalog.provider.descriptor.name);
await signpost.close();`;
}

/** An intent has only strings, numbers, lists and objects, whose JSON is valid Python. */
function python({ query: { network }, request, sender }: SnippetParts): string {
  const { url, registryUrl, id, keyId, keyFile } = sender;
  const scope = network === '' ? '' : `, networkId=${literal(network)}`;
  return `import sys
sys.path.append("examples/python")  # in a clone of Signpost; or put signpost.py next to this file
from signpost import Key, Participant, Registry

with open(${literal(keyFile)}) as file:
    key = Key.from_seed(${literal(id)}, ${literal(keyId)}, file.read().strip())
intent = ${pretty(request.message.intent)}
with Participant(key, Registry(${literal(registryUrl)}), "http://127.0.0.1:4090") as consumer:
    for catalog in consumer.discover(${literal(url)}, intent${scope}):
        for resource in catalog["resources"]:
            print(catalog["provider"]["descriptor"]["name"], resource.get("descriptor", {}).get("name", resource["id"]))`;
}

/** Quoted in the syntax of both languages. */
function literal(text: string): string {
  return JSON.stringify(text);
}
