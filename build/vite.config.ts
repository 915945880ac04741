import { join } from 'node:path';
import { defineConfig } from 'vite';
import { validatorsOfServer } from './compiled-validators.ts';

// Bundles a few modules of dist, each into the place where tsc has written it, so that a command starts quickly: packages that come as hundreds of
// files, and validators that would be compiled at run time. What tsc alone has written does the same, later.

const root = join(import.meta.dirname, '..');
const modules = ['protocol/type', 'protocol/precompiled', 'http/undici', 'mcp/client'];

export default defineConfig({
  root,
  plugins: [validatorsOfServer()],
  ssr: { target: 'node', noExternal: true },
  build: {
    ssr: true,
    outDir: join(root, 'dist'),
    emptyOutDir: false,
    copyPublicDir: false,
    target: 'node20.19',
    minify: false,
    rollupOptions: {
      input: Object.fromEntries(modules.map((name) => [name, join(root, 'src', `${name}.ts`)])),
      output: { entryFileNames: '[name].js', chunkFileNames: 'bundled/[name].js' },
    },
  },
});
