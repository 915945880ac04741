import type { Static, TSchema } from '../protocol/type.ts';
import type { Prover, Signpost } from './client.ts';

export interface McpContext {
  signpost: Pick<Signpost, 'discover'>;
  /** Reads the signed files of providers, for one call. */
  createProver(signal: AbortSignal): Prover;
  /** Examines a node like a crawler (signpost doctor). */
  diagnose(node: string, asked: { catalogId?: string; network?: string }): Promise<Diagnosis>;
  now(): Date;
  callbacks: string;
  note(text: string): void;
}

export interface Diagnosis {
  appearing: readonly string[];
  faults: readonly Trouble[];
  /** Hidden on purpose. */
  hidden: readonly Trouble[];
  warnings: readonly Trouble[];
}

export interface Trouble {
  message: string;
  hint: string;
}

export interface Tool<I extends TSchema = TSchema, O extends TSchema = TSchema> {
  name: string;
  title: string;
  description: string;
  input: I;
  output: O;
  call(input: Static<I>, context: McpContext, signal: AbortSignal): Promise<ToolAnswer<Static<O>>>;
}

/** Infers the types of arguments and answer from the schemas. */
export function defineTool<I extends TSchema, O extends TSchema>(tool: Tool<I, O>): Tool {
  return tool as Tool;
}

/** The same content twice: for programs, and for readers. */
export interface ToolAnswer<T> {
  structured: T;
  text: string;
}

/** Something failed, or the assistant should change its call. The assistant sees the message. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
