import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Body } from '../network/actor.ts';
import type { TestNetwork } from '../network/network.ts';
import { commandLine } from './up-process.ts';

// `signpost mcp` as an assistant starts it, over standard input and output, and a client of the official SDK, which checks every structured answer
// against the tool's schema.

export interface McpProcess {
  client: Client;
  call(tool: string, args: object): Promise<ToolResult>;
  close(): Promise<void>;
}

export interface ToolResult {
  isError: boolean;
  text: string;
  structured: Body;
}

export async function startMcp(
  settings: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<McpProcess> {
  const client = new Client({ name: 'test', version: '1' });
  const command = { command: process.execPath, args: [commandLine, 'mcp', ...args] };
  const env = { PATH: process.env.PATH ?? '', ...settings };
  await client.connect(
    new StdioClientTransport({ ...command, env, stderr: 'ignore', cwd: settings.DATA_DIR }),
  );
  // Makes the client read the schemas of answers.
  await client.listTools();
  return {
    client,
    call: (name, given) => callTool(client, name, given),
    close: () => client.close(),
  };
}

export async function callTool(client: Client, name: string, args: object): Promise<ToolResult> {
  const result = await client.callTool({ name, arguments: args as Record<string, unknown> });
  const [content] = result.content as { text: string }[];
  return {
    isError: result.isError === true,
    text: content?.text ?? '',
    structured: result.structuredContent as Body,
  };
}

/** The settings for a command to take part in a test's network as its consumer. */
export function consumerSettings({ config, discoveryUrl }: TestNetwork): Record<string, string> {
  const { DATA_DIR, registryUrl } = config;
  return {
    DATA_DIR,
    REGISTRY_URL: registryUrl,
    DISCOVERY_URL: discoveryUrl,
    ALLOW_PRIVATE_ADDRESSES: 'true',
  };
}
