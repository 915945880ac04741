/** The client package: an MCP server is a consumer like any other. The build bundles the client into this module (build/vite.config.ts). */
export {
  createProver,
  type Found,
  type Intent,
  type Proof,
  type Prover,
  Signpost,
  SignpostError,
} from 'signpost-client';
