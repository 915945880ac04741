import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Builds the page into dist/web, from where the console role serves it. Vite is used only at build time. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [copyDocsViewer(), compressAssets()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    // The Content-Security-Policy allows no inlined scripts, and small files cost nothing on a loopback connection.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});

/** Writes a .gz beside each asset, which the console sends to browsers that accept it. */
function compressAssets(): Plugin {
  return {
    name: 'compressed-assets',
    writeBundle({ dir = '' }, bundle) {
      for (const name of Object.keys(bundle).filter((file) => /^assets\/.*\.(js|css|json)$/.test(file))) {
        const file = join(dir, name);
        writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
      }
    },
  };
}

/** Copies Swagger UI for /docs from its package to our files of web/public/docs-viewer. */
function copyDocsViewer(): Plugin {
  const files = {
    'swagger-ui-bundle.js': 'swagger-ui-bundle.js',
    'swagger-ui.css': 'swagger-ui.css',
    'LICENSE.txt': 'LICENSE',
    'NOTICE.txt': 'NOTICE',
  };
  const viewer = join(import.meta.dirname, '../node_modules/swagger-ui-dist');
  return {
    name: 'docs-viewer',
    generateBundle() {
      if (!existsSync(viewer)) return this.warn('swagger-ui-dist is not installed: /docs will be empty');
      for (const [name, from] of Object.entries(files)) {
        const path = join(viewer, from);
        // Removes references to the source maps, several megabytes, which are not copied.
        const source = readFileSync(path, 'utf8').replace(/^(\/\/|\/\*)# sourceMappingURL=.*$/m, '');
        this.emitFile({ type: 'asset', fileName: `docs-viewer/${name}`, source });
      }
    },
  };
}
