import { defineConfig } from 'vite';
import { validatorsOfClient } from '../../build/compiled-validators.ts';

/** Bundles the client and the files of src that it uses into one module for Node. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [validatorsOfClient()],
  // Ajv's helpers are bundled; the dependencies in package.json are not.
  ssr: { target: 'node', noExternal: true, external: ['canonicalize', 'typebox'] },
  build: {
    ssr: 'src/index.ts',
    outDir: 'dist',
    // The directory also contains the types.
    emptyOutDir: false,
    target: 'node20.19',
    minify: false,
    rollupOptions: { output: { entryFileNames: 'index.js' } },
  },
});
