import { buildExpression, pageSize } from '../../search/intent.ts';
import { type FindQuery, isEmpty } from '../../search/query.ts';

/** The request as code in several languages. Each snippet signs it: BLAKE2b-512 digest, three lines, Ed25519. */
export type SnippetName = 'json' | 'command' | 'curl' | 'typescript' | 'python';
export interface Sender {
  url: string;
  keyId: string;
}
interface Parts {
  query: FindQuery;
  request: unknown;
  sender: Sender;
}

export const snippets: Record<SnippetName, (parts: Parts) => string> = {
  json: ({ request }) => pretty(request),
  command: ({ query, request }) => command(query) ?? commandWithFile(request),
  curl: ({ request, sender }) => curl(request, sender),
  typescript: ({ request, sender }) => typescript(request, sender),
  python: ({ request, sender }) => python(request, sender),
};

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** `signpost discover` has words, a circle and a filter; other shapes are sent as a file. */
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

function commandWithFile(request: unknown): string {
  return `cat > discover.json <<'EOF'\n${pretty(request)}\nEOF\nnpx signpost send discover.json --wait`;
}

function curl(request: unknown, { url, keyId }: Sender): string {
  return `cat > body.json <<'EOF'
${pretty(request)}
EOF
printf %s "$(cat body.json)" > body.raw    # the signed bytes: no newline at the end
created=$(date +%s); expires=$((created + 300))
digest=$(openssl dgst -blake2b512 -binary body.raw | base64 -w0)
printf '(created): %s\\n(expires): %s\\ndigest: BLAKE-512=%s' $created $expires "$digest" > signing.txt
signature=$(openssl pkeyutl -sign -rawin -inkey consumer.pem -in signing.txt | base64 -w0)
curl ${quote(`${url}/discover`)} --data-binary @body.raw -H 'content-type: application/json' \\
  -H "authorization: Signature keyId=\\"${keyId}\\",algorithm=\\"ed25519\\",created=\\"$created\\",expires=\\"$expires\\",headers=\\"(created) (expires) digest\\",signature=\\"$signature\\""`;
}

function typescript(request: unknown, { url, keyId }: Sender): string {
  return `import { createHash, createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';

const body = JSON.stringify(${pretty(request)});
const key = createPrivateKey(readFileSync('consumer.pem'));
const created = Math.floor(Date.now() / 1000);
const expires = created + 300;
const digest = createHash('blake2b512').update(body).digest('base64');
const text = \`(created): \${created}\\n(expires): \${expires}\\ndigest: BLAKE-512=\${digest}\`;
const signature = sign(null, Buffer.from(text), key).toString('base64');
const answer = await fetch('${url}/discover', {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    authorization:
      \`Signature keyId="${keyId}",algorithm="ed25519",created="\${created}",expires="\${expires}",\` +
      \`headers="(created) (expires) digest",signature="\${signature}"\`,
  },
  body,
});
console.log(answer.status, await answer.text());`;
}

function python(request: unknown, { url, keyId }: Sender): string {
  return `import base64, hashlib, json, time, urllib.request
from cryptography.hazmat.primitives.serialization import load_pem_private_key

body = json.dumps(json.loads(r'''${pretty(request)}''')).encode()
key = load_pem_private_key(open("consumer.pem", "rb").read(), None)
created = int(time.time())
expires = created + 300
digest = base64.b64encode(hashlib.blake2b(body).digest()).decode()
text = f"(created): {created}\\n(expires): {expires}\\ndigest: BLAKE-512={digest}"
signature = base64.b64encode(key.sign(text.encode())).decode()
request = urllib.request.Request("${url}/discover", body, {
    "content-type": "application/json",
    "authorization": f'Signature keyId="${keyId}",algorithm="ed25519",created="{created}",'
    f'expires="{expires}",headers="(created) (expires) digest",signature="{signature}"',
})
with urllib.request.urlopen(request) as answer:
    print(answer.status, answer.read().decode())`;
}
