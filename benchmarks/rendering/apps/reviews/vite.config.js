import { svelte } from "@sveltejs/vite-plugin-svelte";

export default {
  plugins: [svelte()],
  build: { rollupOptions: { input: "main.js", output: { entryFileNames: "assets/app.js" } } },
};
