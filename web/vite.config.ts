import { defineConfig } from 'vite';

/** Builds the page into dist/web, from where the console role serves it. Vite is used at build time only. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
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
